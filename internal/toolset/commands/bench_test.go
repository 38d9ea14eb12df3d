package commands_test

import (
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/command/catalog"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/runner"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/toolset/commands"
	"github.com/copse-dev/copse/internal/xec"
)

func BenchmarkExecute(b *testing.B) {
	dir := b.TempDir()
	if _, err := catalog.Init(b.Context(), dir); err != nil {
		b.Fatal(err)
	}
	time.Sleep(4 * time.Second) // files that were written a moment ago are read each time
	tools := commands.New(library.New(dir, b.TempDir()), runner.New(dir, "", xec.Env{}, settings.OpenUser("")))
	in := commands.ExecuteIn{Agent: "climpt", C1: "git", C2: "write", C3: "commit-message"}
	for b.Loop() {
		if _, err := tools.Execute(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
