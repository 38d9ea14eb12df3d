package command

import (
	"bytes"
	"encoding/json"

	"github.com/copse-dev/copse/internal/cleantext"
)

// Clean returns the command without hidden characters in its texts, whose name stays as it is. A member that is
// not known and has such characters in its name is absent, because it could imitate another one.
func (c Command) Clean() Command {
	c.Description, c.Usage = cleantext.Block(c.Description), cleantext.Block(c.Usage)
	c.Options.Edition, c.Options.Adaptation = cleanLines(c.Options.Edition), cleanLines(c.Options.Adaptation)
	c.Options.Unknown, c.Unknown = cleanFields(c.Options.Unknown), cleanFields(c.Unknown)
	var uv []Variable
	for _, v := range c.UV {
		uv = append(uv, Variable{cleantext.Line(v.Name), cleantext.Block(v.Description)})
	}
	c.UV = uv
	return c
}

func cleanLines(list []string) []string {
	var clean []string
	for _, text := range list {
		clean = append(clean, cleantext.Line(text))
	}
	return clean
}

func cleanFields(list []Field) []Field {
	var clean []Field
	for _, f := range list {
		if cleantext.Line(f.Name) == f.Name {
			clean = append(clean, Field{f.Name, cleanJSON(f.Value)})
		}
	}
	return clean
}

// cleanJSON returns JSON without hidden characters in its strings. All else of it, such as the digits of its numbers,
// stays as it is.
func cleanJSON(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	for len(raw) > 0 {
		start := bytes.IndexByte(raw, '"')
		if start < 0 {
			start = len(raw)
		}
		b.Write(raw[:start])
		if raw = raw[start:]; len(raw) == 0 {
			break
		}
		end := 1
		for raw[end] != '"' { // it is valid, so it ends
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		b.Write(cleanString(raw[:end+1]))
		raw = raw[end+1:]
	}
	return b.Bytes()
}

// cleanString returns a string of JSON without hidden characters.
func cleanString(quoted json.RawMessage) json.RawMessage {
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil || cleantext.Block(s) == s {
		return quoted
	}
	clean, err := json.Marshal(cleantext.Block(s))
	if err != nil { // a string always encodes
		return quoted
	}
	return clean
}
