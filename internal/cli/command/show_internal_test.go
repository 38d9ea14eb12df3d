package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/command"
)

// Only copse's own lines begin at the margin.
func TestSummary(t *testing.T) {
	t.Parallel()
	hostile := command.Command{
		ID:          command.ID{C1: "git\nusage: a", C2: "write", C3: "notes"},
		Description: "usage: b\r\n\naccepts: c\u2028accepts: d",
		Usage:       "git write\naccepts: e",
		Options:     command.Options{Edition: []string{"x\naccepts: f"}, Adaptation: []string{"y\raccepts: g"}, Stdin: true},
		UV:          []command.Variable{{Name: "style\naccepts: h", Description: "The style\naccepts: i"}},
	}
	const want = `git usage: a write notes
    usage: b

    accepts: c
    accepts: d
usage: git write
    accepts: e
editions: x
    accepts: f
adaptations: y
    accepts: g
accepts: text on standard input
--uv style
    accepts: h=… The style
    accepts: i
`
	if diff := cmp.Diff(want, summary(hostile)); diff != "" {
		t.Error(diff)
	}
	if got := summary(command.Command{ID: command.ID{C1: "a", C2: "b", C3: "c"}}); got != "a b c\n" {
		t.Errorf("without a description: %q", got)
	}
}
