package lint

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/echomq/echomq-go/lua/header"
)

// node is a node of the syntax tree.
type node = ast.PositionHolder

// source is a parsed script.
//
// The syntax tree of gopher-lua knows lines and not columns. So the script is
// parsed in a form that has every token on a line of its own: the line of a node
// is then the number of its first token, whose place in the file is known.
type source struct {
	file   string
	text   []byte
	tokens []token
	lines  []int // line of the form that is parsed → index of its first token
	chunk  []ast.Stmt
	// places says where each line of the text stands, if it was put together from
	// more than one file.
	places []header.Position
}

// token is a token and where it begins in the file.
type token struct {
	ast.Token
	offset int
}

// parseSource parses the script that file holds. The finding tells why it could
// not be.
func parseSource(file string, text []byte) (*source, *Finding) {
	return parsePlaced(file, text, nil)
}

// parsePlaced parses a script whose lines stand at the given places.
func parsePlaced(file string, text []byte, places []header.Position) (*source, *Finding) {
	s := &source{file: file, text: text, places: places}
	if _, err := parse.Parse(bytes.NewReader(text), file); err != nil {
		return nil, s.syntaxError(err)
	}
	if err := s.scan(); err != nil {
		return nil, s.syntaxError(err)
	}
	chunk, err := parse.Parse(strings.NewReader(s.spread()), file)
	if err != nil {
		return nil, s.syntaxError(fmt.Errorf("the script cannot be parsed token by token: %w", err))
	}
	s.chunk = chunk
	return s, nil
}

func (s *source) syntaxError(err error) *Finding {
	at := header.Position{File: s.file, Line: 1 + bytes.Count(s.text, []byte("\n")), Column: 1}
	message := err.Error()
	var where *parse.Error
	if errors.As(err, &where) {
		message = where.Message
		if where.Token != "" {
			message += fmt.Sprintf(" near %q", where.Token)
		}
		if where.Pos.Line > 0 {
			at.Line, at.Column = where.Pos.Line, max(1, where.Pos.Column)
		}
	}
	return &Finding{Position: s.place(at), Rule: RuleSyntax, Message: strings.TrimSpace(message)}
}

// scan reads the tokens and where each begins in the file.
func (s *source) scan() error {
	scanner := parse.NewScanner(bytes.NewReader(s.text), s.file)
	lines := lineOffsets(s.text)
	for {
		scanned, err := scanner.Scan(&parse.Lexer{})
		if err != nil {
			return err
		}
		if scanned.Type < 0 {
			return nil
		}
		offset := lines[scanned.Pos.Line-1] + scanned.Pos.Column - 1
		s.tokens = append(s.tokens, token{Token: scanned, offset: offset})
	}
}

func lineOffsets(text []byte) []int {
	offsets := []int{0}
	for i, c := range text {
		if c == '\n' {
			offsets = append(offsets, i+1)
		}
	}
	return offsets
}

// spread writes the script with every token on a line of its own. A parenthesis
// that opens after one that closes stays behind it: on a new line it would be
// ambiguous.
func (s *source) spread() string {
	var b strings.Builder
	for i, token := range s.tokens {
		if i > 0 && token.Type == '(' && s.tokens[i-1].Type == ')' {
			b.WriteByte(' ')
		} else {
			b.WriteByte('\n')
			s.lines = append(s.lines, i)
		}
		b.WriteString(spell(token.Token))
	}
	return b.String()
}

// spell writes a token as the scanner reads it.
func spell(token ast.Token) string {
	switch {
	case token.Type == parse.TString:
		return quote(token.Str)
	case token.Type == '.':
		return "."
	default:
		return token.Str
	}
}

// quote writes a string with every byte that is not a plain one as \ddd.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		c := text[i]
		if c == ' ' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "\\%03d", c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// position returns where a node begins.
func (s *source) position(at node) header.Position {
	i := s.first(at)
	if i < 0 {
		return header.Position{File: s.file, Line: 1, Column: 1}
	}
	return s.tokenPosition(i)
}

// first returns the index of a node's first token, or -1.
func (s *source) first(at node) int {
	line := at.Line() - 2 // the first line is empty
	if line < 0 || line >= len(s.lines) {
		return -1
	}
	return s.lines[line]
}

func (s *source) tokenPosition(i int) header.Position {
	pos := s.tokens[i].Pos
	return s.place(header.Position{File: s.file, Line: pos.Line, Column: pos.Column})
}

// place returns where a position of the text stands.
func (s *source) place(at header.Position) header.Position {
	if len(s.places) == 0 {
		return at
	}
	placed := s.places[min(at.Line, len(s.places))-1]
	placed.Column = at.Column
	return placed
}

// line says in which line a node begins, and of which file if there are more.
func (s *source) line(at node) string {
	position := s.position(at)
	if position.File == s.file {
		return fmt.Sprintf("line %d", position.Line)
	}
	file, err := filepath.Rel(filepath.Dir(s.file), position.File)
	if err != nil {
		file = position.File
	}
	return fmt.Sprintf("line %d of %s", position.Line, filepath.ToSlash(file))
}

// rank orders nodes by where they begin.
func rank(at node) int { return at.Line() }

// raw returns a token as it stands in the file.
func (s *source) raw(i int) string {
	end := len(s.text)
	if i+1 < len(s.tokens) {
		end = s.tokens[i+1].offset
	}
	return string(s.text[s.tokens[i].offset:max(end, s.tokens[i].offset)])
}

// tokenPositionOrStart is the position of a token, or the file's beginning if
// there is no such token.
func (s *source) tokenPositionOrStart(i int) header.Position {
	if i < 0 {
		return header.Position{File: s.file, Line: 1, Column: 1}
	}
	return s.tokenPosition(i)
}
