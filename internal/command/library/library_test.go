package library_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/rooted"
)

const mapPath = ".agent/climpt/config/registry_config.json"

// directories are a workspace and a home directory side by side.
type directories struct{ top, workspace, home string }

// files makes directories with the files; paths begin with "ws/", "home/" or "elsewhere/". A
// content that begins with "->" is a link.
func files(tb testing.TB, contents map[string]string) directories {
	tb.Helper()
	top, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	f := directories{top: top, workspace: filepath.Join(top, "ws"), home: filepath.Join(top, "home")}
	for _, dir := range []string{f.workspace, f.home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	for path, content := range contents {
		f.write(tb, path, content)
	}
	return f
}

func (f directories) write(tb testing.TB, path, content string) {
	tb.Helper()
	path = filepath.Join(f.top, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if target, ok := strings.CutPrefix(content, "->"); ok {
		if err := os.Symlink(filepath.FromSlash(target), path); err != nil {
			tb.Skip("no symbolic links here: ", err)
		}
		return
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func (f directories) library() *library.Library { return library.New(f.workspace, f.home) }

// registry returns a registry whose one command has this c1.
func registry(c1 string) string {
	return fmt.Sprintf(`{"tools":{"commands":[{"c1":%q,"c2":"write","c3":"text","description":"Write a text"}]}}`, c1)
}

func mapOf(agent, path string) string {
	return fmt.Sprintf(`{"registries":{%q:%q}}`, agent, path)
}

// opened says what Open gives: the path and first c1 of the catalog, or the error.
func opened(l *library.Library, agent string) string {
	c, err := l.Open(agent)
	if err != nil {
		return err.Error()
	}
	return c.Path + " " + c.Commands[0].C1
}

func TestOpen(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		agent string
		want  string
	}{
		{"by convention", map[string]string{"ws/.agent/team/registry.json": registry("a")}, "team", ".agent/team/registry.json a"},
		{"of the home folder", map[string]string{"home/.agent/team/registry.json": registry("a")}, "team", "~/.agent/team/registry.json a"},
		{"the workspace first", map[string]string{
			"ws/.agent/team/registry.json": registry("a"), "home/.agent/team/registry.json": registry("b"),
		}, "team", ".agent/team/registry.json a"},
		{"by the map", map[string]string{"ws/" + mapPath: mapOf("team", "./prompts//team.json"), "ws/prompts/team.json": registry("a")}, "team", "prompts/team.json a"},
		{"by a map with backslashes", map[string]string{"ws/" + mapPath: mapOf("team", `prompts\team.json`), "ws/prompts/team.json": registry("a")}, "team", "prompts/team.json a"},
		{"mapped, but in the home folder", map[string]string{
			"ws/" + mapPath: mapOf("team", ".agent/x/r.json"), "home/.agent/x/r.json": registry("a"),
		}, "team", "~/.agent/x/r.json a"},
		{"mapped by the home folder", map[string]string{
			"home/" + mapPath: mapOf("team", ".agent/x/r.json"), "home/.agent/x/r.json": registry("a"),
		}, "team", "~/.agent/x/r.json a"},
		{"the workspace's map alone", map[string]string{
			"ws/" + mapPath: mapOf("other", "x"), "home/" + mapPath: mapOf("team", ".agent/x/r.json"),
			"home/.agent/x/r.json": registry("a"), "ws/.agent/team/registry.json": registry("b"),
		}, "team", ".agent/team/registry.json b"},
		{"a map with a byte order mark", map[string]string{"ws/" + mapPath: "\uFEFF" + mapOf("team", "r.json"), "ws/r.json": registry("a")}, "team", "r.json a"},
		{"links inside", map[string]string{
			"ws/.agent": "->prompts/agents", "ws/prompts/agents/team/registry.json": registry("a"),
		}, "team", ".agent/team/registry.json a"},
		{"the home folder's .agent is a link", map[string]string{
			"home/.agent": "->../elsewhere/agents", "elsewhere/agents/team/registry.json": registry("a"),
		}, "team", "~/.agent/team/registry.json a"},

		{"nowhere", nil, "team", `load registry ".agent/team/registry.json": File not found`},
		{"mapped to nothing", map[string]string{"ws/" + mapPath: mapOf("team", "x/y.json")}, "team", `load registry "x/y.json": File not found`},
		{"a registry that is broken does not lead on", map[string]string{
			"ws/.agent/team/registry.json": "{", "home/.agent/team/registry.json": registry("a"),
		}, "team", `load registry ".agent/team/registry.json": line 1, column 1: unexpected end of JSON input`},
		{"broken in the home folder", map[string]string{"home/.agent/team/registry.json": `{"tools":[]}`}, "team",
			`load registry "~/.agent/team/registry.json": tools: expected an object, got an array (line 1, column 10)`},
		{"a folder in its place", map[string]string{"ws/.agent/team/registry.json/x": ""}, "team",
			`load registry ".agent/team/registry.json": is a directory, not a regular file`},
		{"a map that is broken does not lead on", map[string]string{"ws/" + mapPath: "{]", "home/" + mapPath: mapOf("team", "x")}, "team",
			`load registry "` + mapPath + `": line 1, column 2: invalid character ']' looking for beginning of object key string`},
		{"a map without registries", map[string]string{"ws/" + mapPath: "{}"}, "team",
			`load registry "` + mapPath + `": registries: missing or null; it maps agents to the paths of their registries`},
		{"a map with another type", map[string]string{"home/" + mapPath: `{"registries":{"team":["x"]}}`}, "team",
			`load registry "~/` + mapPath + `": registries.team: expected a string, got an array (line 1, column 23)`},

		{"no name", nil, "", `"" is not the name of an agent: use letters, digits, -, and _, and begin with a letter or digit`},
		{"a name that leads out", nil, "../x", `"../x" is not the name of an agent: use letters, digits, -, and _, and begin with a letter or digit`},
		{"a name like an option", nil, "-x", `"-x" is not the name of an agent: use letters, digits, -, and _, and begin with a letter or digit`},
		{"a name with a line", nil, "x\n", `"x\n" is not the name of an agent: use letters, digits, -, and _, and begin with a letter or digit`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := files(t, tt.files)
			if diff := cmp.Diff(tt.want, opened(f.library(), tt.agent)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestErrorsAreTyped(t *testing.T) {
	t.Parallel()
	f := files(t, nil)
	_, err := library.New(f.workspace, "").Open("team")
	failed, ok := errors.AsType[*library.LoadError](err)
	if !ok || failed.Path != ".agent/team/registry.json" || failed.Details() != "File not found" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a home folder: %#v", err)
	}
	_, err = f.library().Open("a/b")
	if wrong, ok := errors.AsType[*library.NameError](err); !ok || wrong.Agent != "a/b" {
		t.Errorf("a name that is none: %#v", err)
	}
	_, err = library.New(filepath.Join(f.top, "missing"), filepath.Join(f.top, "missing")).Open("team")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a workspace: %v", err)
	}
}

// Whatever a map says, and wherever links lead, nothing outside is read.
func TestContainment(t *testing.T) {
	t.Parallel()
	secret := registry("secret")
	outside := map[string]string{
		"elsewhere/r.json": secret, "home/r.json": secret, "home/private/r.json": secret, "ws-more/r.json": secret,
		"ws/abs.json": "->/etc/hostname", "ws/out.json": "->../elsewhere/r.json", "ws/dir": "->../elsewhere", "ws/chain.json": "->out.json",
		"ws/inner/back.json": "->../../elsewhere/r.json", "home/.agent/out.json": "->../r.json", "home/.agent/dir": "->../private",
	}
	with := func(path, content string) directories {
		f := files(t, outside)
		f.write(t, path, content)
		return f
	}
	refused := []string{
		"", "..", "../elsewhere/r.json", "../ws-more/r.json", "a/../../elsewhere/r.json", "./../elsewhere/r.json", `..\elsewhere\r.json`,
		".agent/../../elsewhere/r.json", "a/b/../../../elsewhere/r.json", "/elsewhere/r.json", "//server/r.json", `\\server\r.json`,
		"C:/r.json", `c:\r.json`, "C:r.json", `\r.json`,
	}
	for _, path := range refused {
		for _, from := range []string{"ws/", "home/"} {
			l := with(from+mapPath, mapOf("team", path)).library()
			_, err := l.Open("team")
			failed, ok := errors.AsType[*library.LoadError](err)
			if !ok || !strings.HasSuffix(failed.Path, mapPath) || !strings.HasPrefix(failed.Details(), "registries.team: the path ") {
				t.Errorf("a map in %s with %q: %v", from, path, err)
			}
		}
	}
	for _, path := range []string{"out.json", "dir/r.json", "chain.json", "inner/back.json", "abs.json", "dir/missing.json"} {
		_, err := with("ws/"+mapPath, mapOf("team", path)).library().Open("team")
		if !errors.Is(err, rooted.ErrOutside) {
			t.Errorf("a link out of the workspace, %q: %v", path, err)
		}
	}
	for _, path := range []string{".agent/out.json", ".agent/dir/r.json"} {
		_, err := with("home/"+mapPath, mapOf("team", path)).library().Open("team")
		if !errors.Is(err, rooted.ErrOutside) {
			t.Errorf("a link out of the home folder's .agent, %q: %v", path, err)
		}
	}
	for _, path := range []string{"r.json", "private/r.json", ".agent", ".agent/../r.json", ".agentless/r.json"} {
		_, err := with("home/"+mapPath, mapOf("team", path)).library().Open("team")
		if err == nil || !strings.Contains(err.Error(), "points outside the directory ~/.agent") {
			t.Errorf("a map of the home folder with %q: %v", path, err)
		}
		_, err = with("ws/"+mapPath, mapOf("team", path)).library().Open("team")
		if path != ".agent" && !errors.Is(err, fs.ErrNotExist) { // that one is a directory of the workspace
			t.Errorf("a map of the workspace with %q reaches the home folder: %v", path, err)
		}
	}
	for _, path := range []string{"ws/.agent/team", "ws/.agent/team/registry.json"} {
		target := "->" + strings.Repeat("../", strings.Count(path, "/")) + "elsewhere"
		if strings.HasSuffix(path, ".json") {
			target += "/r.json"
		}
		_, err := with(path, target).library().Open("team")
		if !errors.Is(err, rooted.ErrOutside) {
			t.Errorf("a link at %q: %v", path, err)
		}
	}
	if _, err := with("ws/"+mapPath, "->../../../../elsewhere/r.json").library().Open("team"); !errors.Is(err, rooted.ErrOutside) {
		t.Errorf("a map that is a link: %v", err)
	}
}

// A registry that becomes a link while it is read is never the link's target.
func TestContainmentWhileLinksChange(t *testing.T) {
	t.Parallel()
	f := files(t, map[string]string{
		"elsewhere/registry.json": registry("secret"), "ws/in/registry.json": registry("open"),
		"ws/.agent/in": "->../in", "ws/.agent/out": "->../../elsewhere",
	})
	link := filepath.Join(f.workspace, ".agent", "team")
	var changing sync.WaitGroup
	changing.Go(func() {
		for i := range 300 {
			next := link + "-next"
			target := []string{"in", "out"}[i%2]
			if err := errors.Join(os.Symlink(target, next), os.Rename(next, link)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	l := f.library()
	for range 300 {
		if c, err := l.Open("team"); err == nil && c.Commands[0].C1 != "open" {
			t.Fatal("read what is outside")
		}
	}
	changing.Wait()
}

func TestChangesAreNoticed(t *testing.T) {
	t.Parallel()
	f := files(t, nil)
	l := f.library()
	step := func(want string) {
		t.Helper()
		if got := opened(l, "team"); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
	step(`load registry ".agent/team/registry.json": File not found`)
	f.write(t, "home/.agent/team/registry.json", registry("home"))
	step("~/.agent/team/registry.json home")
	f.write(t, "ws/.agent/team/registry.json", registry("one"))
	step(".agent/team/registry.json one")
	first, _ := l.Open("team")
	if again, _ := l.Open("team"); again != first {
		t.Error("an unchanged registry was parsed twice")
	}
	if m := first.Search("one text", 5); len(m) != 1 || m[0].Command.C1 != "one" {
		t.Errorf("found %v", m)
	}
	f.write(t, "ws/.agent/team/registry.json", registry("two"))
	step(".agent/team/registry.json two")
	second, _ := l.Open("team")
	if m := second.Search("one", 5); len(m) != 0 {
		t.Errorf("found what is gone: %v", m)
	}
	f.write(t, "ws/"+mapPath, mapOf("team", "mapped.json"))
	f.write(t, "ws/mapped.json", registry("three"))
	step("mapped.json three")
	if err := os.RemoveAll(f.workspace); err != nil {
		t.Fatal(err)
	}
	step("~/.agent/team/registry.json home")
	f.write(t, "ws/.agent/team/registry.json", registry("four"))
	step(".agent/team/registry.json four")
	if err := os.RemoveAll(filepath.Join(f.home, ".agent")); err != nil {
		t.Fatal(err)
	}
	step(".agent/team/registry.json four")
}

func TestReload(t *testing.T) {
	t.Parallel()
	f := files(t, map[string]string{"ws/.agent/team/registry.json": registry("a"), "ws/.agent/other/registry.json": registry("b")})
	l := f.library()
	before, err := l.Open("team")
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Open("other")
	if err != nil {
		t.Fatal(err)
	}
	after, err := l.Reload("team")
	if err != nil || after == before || len(after.Commands) != 1 {
		t.Errorf("reloaded %v, %v", after, err)
	}
	if kept, _ := l.Open("team"); kept != after {
		t.Error("what was reloaded is not kept")
	}
	if same, _ := l.Open("other"); same != other {
		t.Error("another agent was dropped, too")
	}
	if _, err := l.Reload("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing one: %v", err)
	}
	if _, err := l.Reload("no name"); err == nil {
		t.Error("a name that is none was reloaded")
	}
}

func TestAgents(t *testing.T) {
	t.Parallel()
	f := files(t, map[string]string{
		"ws/.agent/team/registry.json": registry("a"), "ws/.agent/no-registry/x": "", "ws/.agent/file": "", "ws/.agent/.hidden/registry.json": "",
		"ws/.agent/folder/registry.json/x": "", "home/.agent/mine/registry.json": "broken", "home/.agent/team/registry.json": "",
		"ws/" + mapPath: `{"registries":{"mapped":"x.json","bad name":"y.json"}}`, "elsewhere/registry.json": "", "ws/.agent/out": "->../../elsewhere",
	})
	got, err := f.library().Agents()
	if diff := cmp.Diff([]string{"mapped", "mine", "team"}, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	f.write(t, "ws/"+mapPath, "{")
	got, err = f.library().Agents()
	if diff := cmp.Diff([]string{"mine", "team"}, got); diff != "" || err == nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	if got, err := files(t, nil).library().Agents(); len(got) > 0 || err != nil {
		t.Errorf("where there is nothing: %v, %v", got, err)
	}
}

// Many that come at once get one catalog, with one index.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	f := files(t, map[string]string{"ws/.agent/team/registry.json": registry("a")})
	l := f.library()
	catalogs := make([]*library.Catalog, 16)
	var all sync.WaitGroup
	for i := range catalogs {
		all.Go(func() {
			c, err := l.Open("team")
			if err != nil {
				t.Error(err)
				return
			}
			if m := c.Search("write", 1); len(m) != 1 {
				t.Errorf("found %v", m)
			}
			catalogs[i] = c
			if _, err := l.Agents(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, c := range catalogs {
		if c != catalogs[0] {
			t.Fatal("it was parsed more than once")
		}
	}
}

// A library writes nothing, not even what the original does.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	f := files(t, map[string]string{"ws/" + mapPath: "{ broken"})
	l := f.library()
	for _, agent := range []string{"climpt", "team"} {
		_, _ = l.Open(agent)
		_, _ = l.Reload(agent)
	}
	_, _ = l.Agents()
	var found []string
	err := filepath.WalkDir(f.top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, filepath.ToSlash(strings.TrimPrefix(path, f.top+string(filepath.Separator))))
		}
		return err
	})
	if diff := cmp.Diff([]string{"ws/" + mapPath}, found); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	content, err := os.ReadFile(filepath.Join(f.workspace, filepath.FromSlash(mapPath)))
	if err != nil || string(content) != "{ broken" {
		t.Errorf("the map is %q, %v", content, err)
	}
}

// The registries of all agents have limits together.
func TestManyAgents(t *testing.T) {
	t.Parallel()
	many := func(n int, content string) map[string]string {
		contents := map[string]string{"ws/.agent/climpt/registry.json": registry("a"), "ws/.agent/broken/registry.json": "{"}
		for i := range n {
			contents[fmt.Sprintf("ws/.agent/a%03d/registry.json", i)] = content
		}
		return contents
	}
	one := len(registry("a"))
	for name, tt := range map[string]struct {
		contents       map[string]string
		size, commands int
		opened         int
		err            string
	}{
		"few":      {many(3, registry("a")), library.MaxSize, command.MaxEntries, 4, `load registry ".agent/broken/registry.json"`},
		"agents":   {many(library.MaxAgents+5, registry("a")), library.MaxSize, command.MaxEntries, library.MaxAgents, "the prompts of 7 agents, from a099 on, are left out"},
		"size":     {many(4, registry("a")), 4*one - 1, command.MaxEntries, 3, "the prompts of 3 agents, from a002 on, are left out"},
		"commands": {many(4, registry("a")), library.MaxSize, 3, 3, "the prompts of 3 agents, from a002 on, are left out"},
		"one too large": {map[string]string{
			"ws/.agent/climpt/registry.json": registry("b"), "ws/.agent/a/registry.json": strings.Repeat(" ", library.MaxSize+1), "ws/.agent/b/registry.json": registry("b"),
		}, library.MaxSize, command.MaxEntries, 2, `load registry ".agent/a/registry.json"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := files(t, tt.contents).library()
			l.SetMost(tt.size, tt.commands)
			all, errs := l.All()
			if len(all) != tt.opened || all[0].Name != library.DefaultAgent || len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), tt.err) {
				t.Errorf("opened %d, want %d; errors: %v", len(all), tt.opened, errs)
			}
		})
	}
}

// A library keeps a limited amount of registries, whatever agents are named.
func TestRegistriesAreDropped(t *testing.T) {
	t.Parallel()
	const agents = 4
	contents := map[string]string{}
	for i := range agents {
		contents[fmt.Sprintf("ws/.agent/a%d/registry.json", i)] = registry("a")
	}
	f, size := files(t, contents), len(registry("a"))
	for name, tt := range map[string]struct {
		size, commands int
		dropped        bool
	}{
		"all fit":          {agents * size / 2, agents / 2, false},
		"too large":        {agents*size/2 - 1, agents / 2, true},
		"too many prompts": {agents * size / 2, agents/2 - 1, true},
	} {
		l := f.library()
		l.SetMost(tt.size, tt.commands)
		opened := make([]*library.Catalog, agents)
		for i := range opened {
			opened[i], _ = l.Open(fmt.Sprintf("a%d", i))
		}
		if again, err := l.Open(fmt.Sprintf("a%d", agents-1)); err != nil || again != opened[agents-1] {
			t.Errorf("%s: the last registry is read again: %v", name, err)
		}
		dropped := false
		for i, before := range opened {
			now, _ := l.Open(fmt.Sprintf("a%d", i))
			dropped = dropped || now != before
		}
		if dropped != tt.dropped {
			t.Errorf("%s: dropped: %v", name, dropped)
		}
	}
}
