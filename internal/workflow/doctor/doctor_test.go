package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/justsource"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/workflow/cliententries"
	"github.com/copse-dev/copse/internal/workflow/tasks"
	"github.com/copse-dev/copse/internal/xec"
)

// noItems is a store that cannot be read.
type noItems struct{ err error }

func (n noItems) Snapshot(context.Context) (*item.Snapshot, error) { return nil, n.err }
func (n noItems) Config(context.Context) (item.Config, error)      { return item.Config{}, n.err }
func (noItems) Close() error                                       { return nil }

// The launcher of npm's package on the PATH is not another copse.
func TestLaunches(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		found, self string
		want        bool
	}{
		{"/p/lib/node_modules/@copse-dev/copse/bin/copse.js", "/p/lib/node_modules/@copse-dev/copse/node_modules/@copse-dev/copse-linux-x64/bin/copse", true},
		{"/p/lib/node_modules/@copse-dev/copse/bin/copse.js", "/p/lib/node_modules/@copse-dev/copse-linux-x64/bin/copse", true},
		{"/p/node_modules/.bin/copse.cmd", "/p/node_modules/@copse-dev/copse-win32-x64/bin/copse.exe", true},
		{"/p/copse.cmd", "/p/node_modules/@copse-dev/copse/node_modules/@copse-dev/copse-win32-x64/bin/copse.exe", true},
		{"/p/lib/node_modules/@copse-dev/copse/bin/copse.js", "/q/lib/node_modules/@copse-dev/copse-linux-x64/bin/copse", false},
		{"/p/lib/node_modules/@copse-dev/copse/bin/copse.js", "/usr/bin/copse", false},
		{"/p/bin/copse.js", "/p/bin/copse", false},
		{"/usr/local/bin/copse", "/usr/bin/copse", false},
	} {
		if got := launches(filepath.FromSlash(test.found), filepath.FromSlash(test.self)); got != test.want {
			t.Errorf("launches(%q, %q) = %v", test.found, test.self, got)
		}
	}
}

// Remedies name the commands of the surface, and nothing else does.
func TestWords(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	d := Doctor{
		Words:      Words{Install: "INSTALL", InitItems: "INIT", CheckItems: "CHECK"},
		Executable: filepath.Join(home, "copse"), Environ: []string{"PATH=" + home},
		Clients:  clientfile.Location{GOOS: "linux", Home: home, Dir: home},
		Status:   func(context.Context) (control.Status, error) { return control.Status{}, control.ErrNotRunning },
		Settings: settings.Open("", home),
	}
	ctx := t.Context()
	for name, tt := range map[string]struct {
		look    func(context.Context) Finding
		err     error
		verdict Verdict
		remedy  string
	}{
		"a program that is not on the PATH": {d.program, nil, Failed, "`INSTALL`"},
		"no client":                         {d.clients, nil, None, "`INSTALL --client NAME`"},
		"no store":                          {d.items, storage.ErrNoProject, None, "`INIT`"},
		"a broken store":                    {d.items, errors.New("it is broken"), Failed, "`CHECK`"},
		"no copse up":                       {d.up, nil, None, ""},
		"settings":                          {d.settings, nil, OK, ""},
	} {
		d.SharedItems = func(context.Context) string { return "" }
		d.Items = func() ItemStore { return noItems{tt.err} }
		got := tt.look(ctx)
		if got.Verdict != tt.verdict || !strings.Contains(got.Remedy, tt.remedy) || tt.remedy == "" && got.Remedy != "" {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// A copse up that other machines can reach is named with its address.
func TestExposed(t *testing.T) {
	t.Parallel()
	for host, exposed := range map[string]bool{"192.168.0.2": true, "127.0.0.2": false} {
		d := Doctor{Status: func(context.Context) (control.Status, error) {
			return control.Status{Terms: control.Terms{Listen: []string{host}}}, nil
		}}
		if got := d.up(t.Context()); strings.Contains(got.Text, "clear text (--listen "+host+")") != exposed || (got.Remedy != "") != exposed || got.Verdict != OK {
			t.Errorf("%s: got %+v", host, got)
		}
	}
}

// brokenTasks is a justfile that cannot be read.
type brokenTasks struct {
	tasks.Justfile
	err error
}

func (b brokenTasks) Recipes(context.Context) ([]recipe.Recipe, error) { return nil, b.err }

// A missing optional program is not a failure.
func TestTasks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want Verdict
	}{
		{recipe.MissingError{}, None},
		{recipe.NotInstalledError{}, None},
		{&justsource.FileError{Problem: "line 3"}, Failed},
	} {
		d := Doctor{Tasks: tasks.New(brokenTasks{err: tt.err})}
		if got := d.tasks(t.Context()); got.Verdict != tt.want {
			t.Errorf("%v: got %+v", tt.err, got)
		}
	}
}

// A check that hangs does not hold up the others, and says so.
func TestLimit(t *testing.T) {
	t.Parallel()
	found := examine(t.Context(), time.Millisecond, []check{
		{"hangs", func(ctx context.Context) Finding { <-ctx.Done(); return Finding{Verdict: OK} }},
		{"works", func(context.Context) Finding { return Finding{Verdict: OK, Text: "fine"} }},
	})
	if found[0].Verdict != Failed || !strings.HasPrefix(found[0].Text, "no answer within") || found[0].Check != "hangs" {
		t.Errorf("got %+v", found[0])
	}
	if found[1].Check != "works" {
		t.Errorf("got %+v", found[1])
	}
}

// The doctor starts each different server once, and only a few of a project's files, which come with
// a repository.
func TestStartsOnce(t *testing.T) {
	t.Parallel()
	started := 0
	s := newStarter(func(context.Context, xec.Command) (int, error) { started++; return 1, nil })
	serve := func(scope clientfile.Scope, args ...string) error {
		return s.start(t.Context(), scope, xec.Command{Name: "/bin/copse", Args: args, Env: xec.Env{"HOME=/h"}})
	}
	for range 100 {
		for _, scope := range []clientfile.Scope{clientfile.User, clientfile.Project} {
			if err := serve(scope, "mcp", "serve"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if started != 1 {
		t.Errorf("the same server was started %d times", started)
	}
	var err error
	for i := range 100 {
		err = errors.Join(err, serve(clientfile.Project, "mcp", "serve", "--name", strconv.Itoa(i)))
	}
	if started != 1+maxProject || !errors.Is(err, tooManyError{}) {
		t.Errorf("%d servers of a project were started: %v", started-1, err)
	}
	if err := serve(clientfile.User, "mcp", "serve", "--name", "own"); err != nil || started != 2+maxProject {
		t.Errorf("the user's own entry: %v", err)
	}
}

// The doctor starts itself for an entry of a project by its own path: a link in the project that leads to
// it can lead elsewhere a moment later.
func TestProjectStartsNoPathOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, project := filepath.Join(dir, "bin", "copse"), filepath.Join(dir, "project")
	if err := errors.Join(os.MkdirAll(filepath.Dir(self), 0o700), os.Mkdir(project, 0o700), os.WriteFile(self, nil, 0o700), os.Symlink(filepath.Dir(self), filepath.Join(project, "lnk"))); err != nil {
		t.Skip(err)
	}
	client, err := clientconfig.Lookup("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	named := clientconfig.Named{Name: "copse", Server: clientconfig.Server{Command: filepath.Join(project, "lnk", "copse"), Args: []string{"mcp", "serve"}}}
	for scope, want := range map[clientfile.Scope]string{clientfile.Project: self, clientfile.User: named.Command} {
		var started []string
		s := newStarter(func(_ context.Context, c xec.Command) (int, error) {
			started = append(started, c.Name)
			return 1, nil
		})
		d := Doctor{Executable: self}
		if problem := d.starts(t.Context(), s, cliententries.File{Client: client, Scope: scope}, named, named); problem != "" || !slices.Equal(started, []string{want}) {
			t.Errorf("%s: started %q: %s", scope, started, problem)
		}
	}
}

// Of a project's file, which comes with a repository, the doctor starts this very program, as a server
// and with nothing else.
func TestHarmless(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, other := filepath.Join(dir, "copse"), filepath.Join(dir, "other")
	d := Doctor{Executable: self}
	serve := []string{"mcp", "serve"}
	for name, tt := range map[string]struct {
		path   string
		server clientconfig.Server
		want   bool
	}{
		"this program":    {self, clientconfig.Server{Args: serve}, true},
		"read only":       {self, clientconfig.Server{Args: append(slices.Clone(serve), "--read-only")}, true},
		"another program": {other, clientconfig.Server{Args: serve}, false},
		"another command": {self, clientconfig.Server{Args: []string{"task", "run", "x"}}, false},
		"another project": {self, clientconfig.Server{Args: append(slices.Clone(serve), "--repo", "/x")}, false},
		"a variable":      {self, clientconfig.Server{Args: serve, Env: map[string]string{"PATH": dir}}, false},
		"a directory":     {self, clientconfig.Server{Args: serve, Dir: dir}, false},
	} {
		if got := d.harmless(tt.server, tt.path); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
