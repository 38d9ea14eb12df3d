package full

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/samedir"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/toolset"
)

// place is the directory of a workspace, without symbolic links when the workspace was opened, and git's
// directory, which has the shared items and the claims. A commit of a stranger can later replace a
// linked worktree inside the main one with a link: git overwrites ignored files.
type place struct {
	workspace, git samedir.Directory
	apart          bool // git's directory is not in the workspace, as with a linked worktree or a submodule
}

func placeOf(w session.Worktree) place {
	return place{workspace: samedir.At(w.Workspace()), git: samedir.At(w.Common), apart: filepath.Dir(w.Common) != w.Workspace()}
}

// check returns an error if a path leads elsewhere now. For a path that leads nowhere, it returns nil. In the
// workspace, git's directory can be created again. One elsewhere is that of other worktrees, too: another one in its
// place is another repository.
func (p place) check() error {
	if p.workspace.Now() == samedir.Elsewhere {
		return failure.New(failure.NoRepository, "The directory of this server, "+foreign.Mention(p.workspace.Path)+", has changed since the server started: its path now leads elsewhere",
			"If the change is yours, start copse again. If not, look for a symbolic link in that path: a commit can contain one.")
	}
	if now := p.git.Now(); now == samedir.Elsewhere || now == samedir.Replaced && p.apart {
		return failure.New(failure.NoRepository, "The git directory of this server, "+foreign.Mention(p.git.Path)+", has changed since the server started: its path now leads elsewhere",
			"If the change is yours, start copse again. If not, look for another repository or a symbolic link in that path.")
	}
	return nil
}

// Moved returns an error once the directory of the workspace leads elsewhere.
func (w *Workspace) Moved() error { return w.place.check() }

// staying returns the toolsets with functions that refuse to work once the directory leads elsewhere, and
// return nothing if that happened while they worked.
func (p place) staying(sets []toolset.Toolset) []toolset.Toolset {
	none := &toolset.Offer{}
	for i := range sets {
		set := &sets[i]
		for j := range set.Tools {
			p.tool(&set.Tools[j])
		}
		for j := range set.Prompts {
			set.Prompts[j].Get = checked(p, set.Prompts[j].Get)
			p.complete(set.Prompts[j].Arguments)
		}
		for j := range set.Resources {
			if read := set.Resources[j].Read; read != nil {
				of := checked(p, func(ctx context.Context, _ struct{}) (string, error) { return read(ctx) })
				set.Resources[j].Read = func(ctx context.Context) (string, error) { return of(ctx, struct{}{}) }
			}
			if watch := set.Resources[j].Watch; watch != nil {
				set.Resources[j].Watch = func(ctx context.Context, changed func()) error {
					return watch(ctx, func() {
						if p.check() == nil { // or it would tell when another repository changes
							changed()
						}
					})
				}
			}
		}
		for j := range set.Templates {
			set.Templates[j].Read = checked(p, set.Templates[j].Read)
			p.complete(set.Templates[j].Variables)
		}
		set.Offer = stays(p, set.Offer, none)
		set.Skills = stays(p, set.Skills, nil)
	}
	return sets
}

// stays returns a function whose answer is moved if the directory leads elsewhere before or after it.
func stays[Out any](p place, do func(context.Context) Out, moved Out) func(context.Context) Out {
	if do == nil {
		return nil
	}
	return func(ctx context.Context) Out {
		if p.check() == nil {
			if out := do(ctx); p.check() == nil {
				return out
			}
		}
		return moved
	}
}

func (p place) tool(t *toolset.Tool) {
	call, begin := t.Call, t.Begin
	t.Call = func(ctx context.Context, arguments json.RawMessage) toolset.Result {
		if err := p.check(); err != nil {
			return t.Fail(err)
		}
		result := call(ctx, arguments)
		if err := p.check(); err != nil {
			return t.Fail(err)
		}
		return result
	}
	if begin != nil {
		t.Begin = func(ctx context.Context, arguments json.RawMessage) (toolset.Result, *toolset.Job) {
			if err := p.check(); err != nil {
				return t.Fail(err), nil
			}
			result, job := begin(ctx, arguments)
			if err := p.check(); err != nil && job == nil {
				return t.Fail(err), nil
			}
			return result, job
		}
	}
}

func (p place) complete(arguments []toolset.Argument) {
	for i := range arguments {
		if complete := arguments[i].Complete; complete != nil {
			arguments[i].Complete = func(ctx context.Context, prefix string, chosen map[string]string) ([]string, error) {
				if err := p.check(); err != nil {
					return nil, err
				}
				values, err := complete(ctx, prefix, chosen)
				if moved := p.check(); moved != nil {
					return nil, moved
				}
				return values, err
			}
		}
	}
}

// checked returns a function that first checks the place.
func checked[In any](p place, do func(context.Context, In) (string, error)) func(context.Context, In) (string, error) {
	if do == nil {
		return nil
	}
	return func(ctx context.Context, in In) (string, error) {
		if err := p.check(); err != nil {
			return "", err
		}
		text, err := do(ctx, in)
		if moved := p.check(); moved != nil {
			return "", moved
		}
		return text, err
	}
}
