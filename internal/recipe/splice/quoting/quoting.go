// Package quoting parses shell scripts, and finds the values in them that quotation marks protect.
package quoting

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// MaxScript limits the length of a script that is parsed, and maxNesting its brackets. The parser is
// recursive, and a repository can contain any justfile.
const (
	MaxScript  = 32 << 10
	maxNesting = 1000
)

// Parse returns a script, and nil if it is too long, or not one.
func Parse(text, shell string) *syntax.File {
	brackets := strings.Count(text, "(") + strings.Count(text, "{") + strings.Count(text, "[") + strings.Count(text, "`")
	if len(text) > MaxScript || brackets > maxNesting {
		return nil
	}
	file, err := Parser(shell).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	return file
}

// Parser returns a parser for the scripts of a shell.
func Parser(shell string) *syntax.Parser {
	variant := syntax.LangBash
	switch {
	case shell == "zsh":
		variant = syntax.LangZsh
	case strings.HasSuffix(shell, "ksh"):
		variant = syntax.LangMirBSDKorn
	}
	return syntax.NewParser(syntax.Variant(variant))
}

// Walk calls do with every node of a file, and with the nodes around it, of which it is the last.
func Walk(file *syntax.File, do func(n syntax.Node, around []syntax.Node)) {
	var around []syntax.Node
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		around = append(around, n)
		do(n, around)
		return true
	})
}

// Protects returns a function that reports whether the single quotation mark at a position of a script
// begins a text that stays a part of one word, whatever that text is. A text inside a doubtful construct does
// not, because its marks make the construct doubtful.
func Protects(text, shell string) func(at int) bool {
	file := Parse(text, shell)
	if file == nil {
		return func(int) bool { return false }
	}
	s := script{text, shell}
	end := len(text)
	if found := unclear.Get().FindStringIndex(text); found != nil {
		end = found[0]
	}
	var protected []int
	Walk(file, func(n syntax.Node, around []syntax.Node) {
		if quoted, ok := n.(*syntax.SglQuoted); ok {
			protected = append(protected, int(quoted.Left.Offset())) //nolint:gosec // at most MaxScript
		}
		if s.doubtful(n, around) {
			end = min(end, int(n.Pos().Offset())) //nolint:gosec // at most MaxScript
		}
	})
	return func(at int) bool { return at < end && slices.Contains(protected, at) }
}
