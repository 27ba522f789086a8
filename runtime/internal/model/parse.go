package model

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseStore reads the text of a store, as [Store.String] writes it; lines may
// be indented and empty. In tests it says in one place what lies where.
func ParseStore(text string) (Store, error) {
	store := Store{}
	for line := range strings.Lines(text) {
		tokens, err := tokenize(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		if len(tokens) == 0 {
			continue
		}
		if len(tokens) < 2 {
			return nil, fmt.Errorf("line %q has a key and no type", line)
		}
		value, err := parseValue(tokens[1].word, tokens[2:])
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		store[tokens[0].word] = value
	}
	return store, nil
}

// token is a word, or a field and its value.
type token struct{ word, value string }

func parseValue(kind string, tokens []token) (any, error) {
	plain := make([]string, len(tokens))
	pairs := map[string]string{}
	for i, token := range tokens {
		plain[i] = token.word
		pairs[token.word] = token.value
	}
	switch kind {
	case "list":
		return List(plain), nil
	case "set":
		return Set(plain), nil
	case "hash":
		return Hash(pairs), nil
	case "stub":
		return Stub(pairs), nil
	case "text":
		return Text(strings.Join(plain, " ")), nil
	case "zset":
		scores := ZSet{}
		for id, value := range pairs {
			score, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return nil, err
			}
			scores[id] = score
		}
		return scores, nil
	case "stream":
		events := Stream{}
		for _, word := range plain {
			name, id, _ := strings.Cut(word, "/")
			events = append(events, Event{Name: name, ID: id})
		}
		return events, nil
	}
	return nil, fmt.Errorf("unknown type %q", kind)
}

func tokenize(line string) ([]token, error) {
	var tokens []token
	for line != "" {
		var t token
		var err error
		if t.word, line, err = nextWord(line); err != nil {
			return nil, err
		}
		if rest, paired := strings.CutPrefix(line, "="); paired {
			if t.value, line, err = nextWord(rest); err != nil {
				return nil, err
			}
		}
		tokens = append(tokens, t)
		line = strings.TrimLeft(line, " \t")
	}
	return tokens, nil
}

// nextWord reads a word, quoted or not, up to a space or an equals sign.
func nextWord(text string) (word, rest string, err error) {
	if strings.HasPrefix(text, `"`) {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return "", "", err
		}
		word, err = strconv.Unquote(quoted)
		return word, text[len(quoted):], err
	}
	end := strings.IndexAny(text, " \t=")
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:], nil
}
