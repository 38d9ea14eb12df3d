package evaluation

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/recipe/splice/quoting"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// arithmetic records that a node is evaluated as an arithmetic expression.
func (s *script) arithmetic(n syntax.Node) {
	s.content(n)
	s.names(n)
}

// names records that the names in a node are evaluated as those of variables, without a dollar sign. The
// value of such a variable can be the name of any other.
func (s *script) names(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			return !n.Length // a number, whatever the name
		case *syntax.Lit:
			s.named(n.Value)
		}
		return true
	})
}

// named records that the names in a text are evaluated as those of variables.
func (s *script) named(text string) {
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return !words.Letter(r) && (r < '0' || r > '9') }) {
		if !words.Letter(rune(name[0])) {
			continue
		}
		s.evaluates(s.variable(name), evaluated)
		if s.origins.lettered[name] || s.from.Exported[name] {
			s.evaluates(s.origins.all, evaluated)
		}
	}
}

// element records that the index of an array element, such as a[i], is evaluated.
func (s *script) element(text string) {
	if _, index, ok := strings.Cut(text, "["); ok {
		s.named(index)
	}
}

// elements records the array elements that constant words name.
func (s *script) elements(args []*syntax.Word) {
	for _, arg := range args {
		if text, literal := words.Text(arg); literal {
			s.element(text)
		}
	}
}

// qualifier examines what the parser leaves as text: a qualifier of a pattern of zsh, such as (e:…:), can
// be a command.
func (s *script) qualifier(n *syntax.Lit) {
	if s.from.Shell != "zsh" || !strings.HasPrefix(n.Value, "(") {
		return
	}
	if text, err := quoting.Parser(s.from.Shell).Document(strings.NewReader(n.Value)); err == nil {
		s.content(text)
	} else {
		s.evaluates(s.origins.all, evaluated)
	}
}
