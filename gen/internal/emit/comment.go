package emit

import "strings"

// width is the column at which comments of our own are wrapped.
const width = 77

// comment wraps text into the lines of a comment.
func comment(text string) []string {
	var lines []string
	line := "//"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > width && line != "//" {
			lines = append(lines, line)
			line = "//"
		}
		line += " " + word
	}
	return append(lines, line)
}

// carried returns the lines of a comment that a person wrote. Each line is kept
// as it is, because a comment may have lists and code in it.
func carried(doc string) []string {
	if doc == "" {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(doc, "\n") {
		lines = append(lines, strings.TrimRight("// "+line, " \t"))
	}
	return lines
}

// paragraphs joins the paragraphs of a comment.
func paragraphs(parts ...[]string) []string {
	var lines []string
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		if len(lines) > 0 {
			lines = append(lines, "//")
		}
		lines = append(lines, part...)
	}
	return lines
}

// deprecation returns the paragraph of doc by which tools know that something
// is deprecated, or "".
func deprecation(doc string) string {
	for paragraph := range strings.SplitSeq(doc, "\n\n") {
		if strings.HasPrefix(paragraph, "Deprecated: ") {
			return paragraph
		}
	}
	return ""
}
