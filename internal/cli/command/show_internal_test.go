package command

import (
	"strings"
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
usage: copse prompt run
usage in the registry: git write
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
	if diff := cmp.Diff(want, summary(hostile, "copse prompt run")); diff != "" {
		t.Error(diff)
	}
	if got := summary(command.Command{ID: command.ID{C1: "a", C2: "b", C3: "c"}}, ""); got != "a b c\n" {
		t.Errorf("without a description: %q", got)
	}
}

// The usage is copse's, not the one that the registry has for climpt.
func TestUsage(t *testing.T) {
	t.Parallel()
	id := command.ID{C1: "git", C2: "write", C3: "notes"}
	for _, tt := range []struct {
		agent string
		of    command.Command
		want  string
	}{
		{"climpt", command.Command{ID: id, Usage: "climpt-git write notes"}, "copse prompt run git write notes"},
		{"team", command.Command{ID: id}, "copse prompt run git write notes --agent team"},
		{
			"climpt", command.Command{ID: id, Options: command.Options{Edition: []string{"a", "b"}, Adaptation: []string{"c", "d"}}, UV: []command.Variable{{Name: "x\ny"}}},
			"copse prompt run git write notes [--edition EDITION] [--adaptation ADAPTATION] [--uv x y=VALUE]",
		},
	} {
		c := cli{agent: tt.agent}
		if got := c.usage(tt.of); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
		if got := summary(tt.of, tt.want); strings.Contains(got, "climpt") {
			t.Errorf("the usage names climpt: %q", got)
		}
	}
}
