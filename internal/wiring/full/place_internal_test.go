package full

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/toolset"
)

// A call answers nothing of a directory that took the place of the server's while the call worked.
func TestRootBecomesALinkDuringACall(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	root, aside := filepath.Join(dir, "root"), filepath.Join(dir, "aside")
	swap := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Error(err)
		}
	}
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	read := func() string {
		swap(root, aside)
		swap(filepath.Join(dir, "link"), root)
		return "SECRET"
	}
	result := func() toolset.Result { return toolset.Result{Text: []string{read()}} }
	sets := placeOf(session.Worktree{Root: root}).staying([]toolset.Toolset{{
		Tools: []toolset.Tool{{
			Call:  func(context.Context, json.RawMessage) toolset.Result { return result() },
			Begin: func(context.Context, json.RawMessage) (toolset.Result, *toolset.Job) { return result(), nil },
			Fail:  func(err error) toolset.Result { return toolset.Result{Text: []string{err.Error()}, IsError: true} },
		}},
		Prompts: []toolset.Prompt{{
			Get:       func(context.Context, map[string]string) (string, error) { return read(), nil },
			Arguments: []toolset.Argument{{Complete: func(context.Context, string, map[string]string) ([]string, error) { return []string{read()}, nil }}},
		}},
		Offer:  func(context.Context) *toolset.Offer { return &toolset.Offer{Prompts: []toolset.Prompt{{Name: read()}}} },
		Skills: func(context.Context) []toolset.Skill { return []toolset.Skill{{Name: read()}} },
	}})[0]
	ctx, tool, prompt := t.Context(), sets.Tools[0], sets.Prompts[0]
	for what, answer := range map[string]func() (string, error){
		"a call":   func() (string, error) { return strings.Join(tool.Call(ctx, nil).Text, ""), nil },
		"a job":    func() (string, error) { r, _ := tool.Begin(ctx, nil); return strings.Join(r.Text, ""), nil },
		"a prompt": func() (string, error) { return prompt.Get(ctx, nil) },
		"a completion": func() (string, error) {
			v, err := prompt.Arguments[0].Complete(ctx, "", nil)
			return strings.Join(v, ""), err
		},
		"an offer": func() (string, error) { return strings.Repeat("SECRET", len(sets.Offer(ctx).Prompts)), nil },
		"skills":   func() (string, error) { return strings.Repeat("SECRET", len(sets.Skills(ctx))), nil },
	} {
		text, _ := answer()
		if strings.Contains(text, "SECRET") {
			t.Errorf("%s answers %q", what, text)
		}
		swap(root, filepath.Join(dir, "link"))
		swap(aside, root)
	}
}

// A subscription says nothing about the changes of a directory that took the place of the server's.
func TestChangesElsewhere(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	var change func()
	resource := placeOf(session.Worktree{Root: root}).staying([]toolset.Toolset{{
		Resources: []toolset.Resource{{Watch: func(_ context.Context, changed func()) error { change = changed; return nil }}},
	}})[0].Resources[0]
	changes := 0
	if err := resource.Watch(t.Context(), func() { changes++ }); err != nil {
		t.Fatal(err)
	}
	if change(); changes != 1 {
		t.Error("no change is reported")
	}
	if err := os.Rename(root, root+"-aside"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, root); err != nil {
		t.Skip(err)
	}
	if change(); changes != 1 {
		t.Error("the change of another directory is reported")
	}
}
