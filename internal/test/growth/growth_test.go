//go:build !race

// The race detector makes these measurements ten times slower: CI makes them with the plain test command.

package growth_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/test/bombs"
	"github.com/copse-dev/copse/internal/test/need"
)

// load is a file, or many, that a stranger can put into a clone, an archive, or a shared branch, in a
// size that a test chooses.
type load struct {
	name string
	// readers are the functions that read it, as TestReadersHaveLoads finds them.
	readers []string
	// plant writes n entries.
	plant func(g *ground, n int)
	// n is the smaller one of the two sizes.
	n int
	// run are the command lines that read it; one that begins with a brace is a request to a server, and
	// one that begins with an exclamation mark changes it.
	run []string
	// flood means that the loads together exceed a limit: both sizes must cost less than most MiB.
	flood bool
	// most is how much memory, in MiB, the larger size may allocate; 0 is the usual.
	most int
}

const (
	// usual is how much memory, in MiB, the larger size of a load may allocate.
	usual = 192
	// growth is how much more the double size may cost: linear work costs twice as much.
	growth = 2.6
	// workGrowth is the same for processor time, which a busy machine and the size of its caches increase. A
	// search of a list in a loop takes four times as long.
	workGrowth = 3.2
	// noMemory and noWork are differences that are not judged.
	noMemory = 6 << 20
	noWork   = 120 * time.Millisecond
	// tries is how often a cost is measured that seems to grow too fast: a busy machine takes more time.
	tries = 4
	// settled is how long after a change a file is certainly read only once.
	settled = 3100 * time.Millisecond
)

// cost is what a command takes.
type cost struct {
	memory uint64        // bytes allocated in total, which are never less than the peak
	work   time.Duration // of the processor, by this process
}

// ground is a repository in which a load is planted.
type ground struct {
	t    *testing.T
	base string
	env  []string
	// plain is what it is a copy of.
	plain *ground
}

func (g *ground) root() string { return filepath.Join(g.base, "root") }

// write makes a file below the root.
func (g *ground) write(name, text string) {
	g.t.Helper()
	path := filepath.Join(g.root(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// read returns a file below the root.
func (g *ground) read(name string) string {
	g.t.Helper()
	text, err := os.ReadFile(filepath.Join(g.root(), filepath.FromSlash(name)))
	if err != nil {
		g.t.Fatal(err)
	}
	return string(text)
}

// link makes names of one file, as an archive can contain them: they take no space.
func (g *ground) link(text string, n int, name func(i int) string) {
	g.t.Helper()
	g.write(name(0), text)
	from := filepath.Join(g.root(), filepath.FromSlash(name(0)))
	for i := 1; i < n; i++ {
		to := filepath.Join(g.root(), filepath.FromSlash(name(i)))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			g.t.Fatal(err)
		}
		if err := os.Link(from, to); err != nil {
			g.t.Fatal(err)
		}
	}
}

func (g *ground) git(input string, args ...string) string {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = g.root(), g.env, strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit moves a branch to n new commits, whose changes are in the language of "git fast-import", as inline
// writes it.
func (g *ground) commit(ref string, n int, changes func(i int) string, options ...string) {
	g.t.Helper()
	var stream strings.Builder
	for i := range n {
		fmt.Fprintf(&stream, "commit %s\ncommitter a <a@example.com> 1767225600 +0000%s%s", ref, inline("files"), changes(i))
	}
	g.git(stream.String(), append(options, "fast-import", "--quiet")...)
}

// share makes a shared store, and n commits of others on the branch of its remote.
func (g *ground) share(n int, changes func(i int) string) {
	g.t.Helper()
	hub := filepath.Join(g.base, "hub.git")
	g.git("", "init", "-q", "--bare", hub)
	g.git("", "remote", "add", "origin", hub)
	if said := g.copse("item init --shared") + g.copse("item sync"); !strings.Contains(said, "sent ") {
		g.t.Fatal(said)
	}
	g.commit("refs/heads/copse-items", n, func(i int) string {
		if i == 0 {
			return "from refs/heads/copse-items^0\n" + changes(i)
		}
		return changes(i)
	}, "--git-dir", hub)
}

// copse runs a command line in this process.
func (g *ground) copse(line string) string {
	var said bytes.Buffer
	env := app.EmptyEnv()
	env.Dir, env.Environ, env.Stdout, env.Stderr = g.root(), g.env, &said, &said
	if strings.HasPrefix(line, "{") {
		g.ask(env, line, &said)
	} else {
		env.Args = strings.Fields(line)
		copse.Run(g.t.Context(), env)
	}
	return said.String()
}

// ask sends a request to a server, and waits for its answer.
func (g *ground) ask(env app.Env, request string, said io.Writer) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	env.Args, env.Stdin, env.Stdout = []string{"mcp", "serve"}, in, out
	ctx, cancel := context.WithTimeout(g.t.Context(), time.Minute)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		copse.Run(ctx, env)
		out.Close()
	}()
	go func() {
		fmt.Fprintln(toServer, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`)
		fmt.Fprintln(toServer, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		fmt.Fprintln(toServer, `{"jsonrpc":"2.0","id":2,`+request[1:])
	}()
	lines := bufio.NewReader(fromServer)
	for {
		line, err := lines.ReadString('\n')
		if err != nil || strings.Contains(line, `"id":2`) {
			_, _ = io.WriteString(said, line)
			break
		}
	}
	toServer.Close()
	go func() { _, _ = io.Copy(io.Discard, fromServer) }()
	<-ended
}

// costs measures a command line.
func (g *ground) costs(line string) (cost, string) {
	var before, after runtime.MemStats
	runtime.GC()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // then its time is that of the command
	runtime.ReadMemStats(&before)
	worked := bombs.Worked()
	said := g.copse(line)
	worked = bombs.Worked() - worked
	runtime.ReadMemStats(&after)
	return cost{after.TotalAlloc - before.TotalAlloc, worked}, said
}

// template is a repository that loads are planted in, as a directory to copy.
func template(t *testing.T) *ground {
	t.Helper()
	g := &ground{t: t, base: t.TempDir()}
	g.env = environ(g.base)
	g.write(".gitkeep", "")
	for _, dir := range []string{"home", "run"} {
		if err := os.MkdirAll(filepath.Join(g.base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	g.git("", "init", "-q", "-b", "main", "--template=")
	g.write(".git/config", g.read(".git/config")+"[user]\n\tname = Ada\n\temail = ada@example.com\n")
	g.git("", "add", "-A")
	g.git("", "commit", "-qm", "start")
	g.git("", "branch", "topic")
	g.copse("init --branches --items --commands")
	g.copse("item create Plan")
	return g
}

func environ(base string) []string {
	home := filepath.Join(base, "home")
	return []string{
		"HOME=" + home, "USERPROFILE=" + home, "XDG_RUNTIME_DIR=" + filepath.Join(base, "run"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GITHUB_API_URL=http://127.0.0.1:1", "JIRA_HOST=http://127.0.0.1:1",
		"DOCKER_HOST=unix:///no/engine.sock", "NO_COLOR=1", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
	}
}

// copied returns a copy of the ground, in which n entries of a load are planted.
func (g *ground) copied(l load, n int) *ground {
	g.t.Helper()
	base, err := os.MkdirTemp(g.t.TempDir(), "")
	if err != nil {
		g.t.Fatal(err)
	}
	if err := os.CopyFS(base, os.DirFS(g.base)); err != nil {
		g.t.Fatal(err)
	}
	c := &ground{t: g.t, base: base, env: environ(base), plain: g}
	if n > 0 {
		l.plant(c, n)
	}
	return c
}

// No command or request takes time or memory that grows with the square of what a stranger wrote, and the
// sum of what it reads is limited.
func TestGrowth(t *testing.T) { //nolint:paralleltest // it measures what the process takes
	plain := template(t)
	without := map[string]cost{} // by command line: what it costs without a load
	for _, l := range loads() {
		t.Run(l.name, func(t *testing.T) { //nolint:paralleltest // as above
			g := *plain
			g.t = t
			small, large := g.copied(l, l.n), g.copied(l, 2*l.n)
			for _, line := range l.run {
				if strings.HasPrefix(line, "task") && need.Installed("just") == "" {
					continue
				}
				line, changes := strings.CutPrefix(line, "!")
				if _, ok := without[line]; !ok {
					without[line], _ = g.copied(l, 0).costs(line)
				}
				if changes {
					judge(t, l, line, without[line], g.copied(l, l.n), g.copied(l, 2*l.n))
				} else {
					judge(t, l, line, without[line], small, large)
				}
			}
		})
	}
}

// judge measures a command line with both sizes of a load.
func judge(t *testing.T, l load, line string, without cost, one, two *ground) {
	t.Helper()
	var once, twice []time.Duration
	var last [2]uint64
	for try := range tries {
		if try > 0 { // what the first try changed is as before
			one, two = one.plain.copied(l, l.n), one.plain.copied(l, 2*l.n)
			time.Sleep(settled)
		}
		small, _ := one.costs(line)
		large, said := two.costs(line)
		last = [2]uint64{small.memory, large.memory}
		most := uint64(l.most) << 20
		if most == 0 {
			most = usual << 20
		}
		if try == 0 {
			t.Logf("%-40.40s %8d: %6.1f MiB %6.1f ms; %8d: %6.1f MiB %6.1f ms; %.60q", line, l.n, mib(small.memory), ms(small.work), 2*l.n, mib(large.memory), ms(large.work), said)
		}
		if large.memory > most {
			t.Fatalf("%s allocates %.0f MiB, more than %d", line, mib(large.memory), most>>20)
		}
		if strings.Contains(said, "panic:") {
			t.Fatalf("%s: %s", line, said)
		}
		if l.flood {
			return
		}
		once, twice = append(once, small.work-without.work), append(twice, large.work-without.work)
		m, w := large.memory-min(large.memory, without.memory), slices.Min(twice)
		if (m < noMemory || float64(m) <= growth*float64(small.memory-min(small.memory, without.memory))) && (w < noWork || float64(w) <= workGrowth*float64(slices.Min(once))) {
			return
		}
	}
	t.Errorf("%s takes %.1f MiB and %v of the processor with %d entries, and %.1f MiB and %v with %d", line, mib(last[0]), once, l.n, mib(last[1]), twice, 2*l.n)
}

func mib(bytes uint64) float64        { return float64(bytes) / (1 << 20) }
func ms(worked time.Duration) float64 { return float64(worked) / float64(time.Millisecond) }
