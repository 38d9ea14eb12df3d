package writers

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/test/soak/rig"
)

// writer is a command that writes a file. It is killed at some moment; what it said to have done
// must be there afterward, and the file must be whole.
type writer struct {
	what string
	dir  string // where it runs; "" is the project
	args func(n int) []string
	// check looks at the file: acknowledged are the runs that ended well.
	check func(acknowledged []int) error
	// span is the time in which it writes, for one that does not end; 0 is what it takes.
	span time.Duration
}

// Killed kills each kind of writer with SIGKILL, over and over.
func Killed(r *rig.Rig) ([]rig.Result, error) {
	dir, err := r.Repository("killed")
	if err != nil {
		return nil, err
	}
	home := filepath.Join(r.Dir, "home")
	if err := os.MkdirAll(filepath.Join(home, ".cursor"), 0o700); err != nil {
		return nil, err
	}
	env := append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_RUNTIME_DIR="+home, "XDG_CACHE_HOME="+home,
		"GIT_CONFIG_GLOBAL=/dev/null")
	github, err := githubtest.Start(githubtest.Fixture{Repositories: []githubtest.Repository{{
		Name: "acme/app", PullRequests: []githubtest.PullRequest{{Number: 7, Title: "A title", State: "open", Head: "feature/b", Base: "main", SHA: "aa", CreatedAt: "2026-03-02T09:00:00Z", UpdatedAt: "2026-03-03T11:00:00Z"}},
	}}})
	if err != nil {
		return nil, err
	}
	defer github.Close()
	env = append(env, "GITHUB_API_URL="+github.URL, "GH_TOKEN=soak")
	if out, err := exec.CommandContext(r.Context, "git", "-C", dir, "remote", "add", "origin", "https://github.com/acme/app.git").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git remote: %w: %s", err, out)
	}
	if _, err := r.Command(dir, nil, "branch", "link", "feature/b", "--pr", "7"); err != nil {
		return nil, err
	}
	k := &killing{Rig: r, dir: dir, home: home, env: env}
	writers, err := k.writers()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	span := r.Until.Sub(begin)
	var results []rig.Result
	for i, w := range writers {
		res, err := k.kill(w, begin.Add(span*time.Duration(i+1)/time.Duration(len(writers))))
		if err != nil {
			return results, err
		}
		results = append(results, res)
	}
	return results, nil
}

// killing is a project and a home that killed writers leave whole.
type killing struct {
	*rig.Rig
	dir, home string
	env       []string
}

// kill starts a writer over and over until a moment, and kills most of its runs.
func (k *killing) kill(w writer, until time.Time) (rig.Result, error) {
	res := rig.Result{What: "kill -9 while writing " + w.what}
	var acknowledged []int
	killed := 0
	typical := max(w.span, 30*time.Millisecond)
	for n := 0; n < 10 || time.Now().Before(until) && k.Context.Err() == nil; n++ {
		cmd := exec.CommandContext(k.Context, k.Copse(), w.args(n)...)
		cmd.Dir, cmd.Env = cmp.Or(w.dir, k.dir), k.env
		start := time.Now()
		if err := cmd.Start(); err != nil {
			return res, err
		}
		kill := time.AfterFunc(time.Duration(k.Random.Int64N(int64(typical*5/4))), func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		res.Tried++
		if w.span == 0 && (kill.Stop() || err == nil) {
			typical = (typical*7 + time.Since(start)) / 8
		}
		switch {
		case err == nil:
			acknowledged = append(acknowledged, n)
		case cmd.ProcessState.ExitCode() == -1:
			killed++
		default:
			res.Lost++
			res.Note = fmt.Sprintf("%v: it could not go on after a kill", w.args(n))
			continue
		}
		if err := w.check(acknowledged); err != nil {
			res.Lost++
			res.Note = err.Error()
			continue
		}
		res.Survived++
	}
	if res.Note == "" {
		res.Note = fmt.Sprintf("%d killed, %d ended before", killed, len(acknowledged))
	}
	return res, nil
}

// writers returns all kinds of writers.
func (k *killing) writers() ([]writer, error) {
	list := []writer{k.items(), k.branchState(), k.answers(), k.exports(), k.ports()}
	for _, prepare := range []func() (writer, error){k.claims, k.repositories, k.clientConfig, k.registry, k.token} {
		w, err := prepare()
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	if _, err := exec.LookPath("just"); err == nil {
		list = append(list, k.journal())
	}
	return list, nil
}

func (k *killing) items() writer {
	return writer{
		what: "work items",
		args: func(n int) []string { return []string{"item", "create", fmt.Sprintf("item number %d", n)} },
		check: func(acknowledged []int) error {
			out, err := k.Command(k.dir, nil, "item", "list", "--all", "--json")
			if err != nil {
				return err
			}
			for _, n := range acknowledged {
				if title := fmt.Sprintf("item number %d", n); !strings.Contains(out, `"`+title+`"`) {
					return fmt.Errorf("%q is lost", title)
				}
			}
			return nil
		},
	}
}

// claims claims an item in each run. check makes the item of the next one.
func (k *killing) claims() (writer, error) {
	dir, err := k.Repository("claimed") // a killed create leaves a gap in the numbers of its project
	return writer{
		what: "claims of work items",
		dir:  dir,
		args: func(n int) []string { return []string{"item", "claim", fmt.Sprint(n + 1)} },
		check: func(acknowledged []int) error {
			if _, err := k.Command(dir, nil, "item", "create", "to be claimed"); err != nil {
				return err
			}
			out, err := k.Command(dir, nil, "item", "list", "--all", "--json")
			if err != nil {
				return err
			}
			var items []struct {
				ID      int
				Claimed string
			}
			if err := json.Unmarshal([]byte(out), &items); err != nil {
				return err
			}
			held := map[int]bool{}
			for _, it := range items {
				held[it.ID] = it.Claimed != ""
			}
			for _, n := range acknowledged {
				if !held[n+1] {
					return fmt.Errorf("the claim of #%d is lost", n+1)
				}
			}
			return nil
		},
	}, err
}

func (k *killing) branchState() writer {
	return writer{
		what: "the branch state",
		args: func(n int) []string { return []string{"branch", "link", "feature/a", "--pr", fmt.Sprint(n + 1)} },
		check: func(acknowledged []int) error {
			data, err := os.ReadFile(twig.Path(k.dir))
			if err != nil {
				return err
			}
			state, err := twig.Parse(data)
			if err != nil {
				return err
			}
			if len(acknowledged) > 0 && int(state.Branches["feature/a"].GitHubPR) <= acknowledged[len(acknowledged)-1] {
				return fmt.Errorf("#%d is lost", acknowledged[len(acknowledged)-1]+1)
			}
			return nil
		},
	}
}

func (k *killing) repositories() (writer, error) {
	var repos []string
	for i := range 40 {
		repo := filepath.Join(k.Dir, fmt.Sprintf("repo-%d", i))
		if out, err := exec.CommandContext(k.Context, "git", "init", "-q", repo).CombinedOutput(); err != nil {
			return writer{}, fmt.Errorf("git init: %w: %s", err, out)
		}
		repos = append(repos, repo)
	}
	return writer{
		what: "the list of repositories",
		args: func(n int) []string { return []string{"repo", "add", repos[n%len(repos)]} },
		check: func(acknowledged []int) error {
			var entries []struct{ Path string }
			if err := readJSON(filepath.Join(k.home, "twig", "registry.json"), &entries); err != nil {
				return err
			}
			listed := make(map[string]bool)
			for _, e := range entries {
				listed[filepath.Base(e.Path)] = true
			}
			for _, n := range acknowledged {
				if repo := repos[n%len(repos)]; !listed[filepath.Base(repo)] {
					return fmt.Errorf("%s is lost", repo)
				}
			}
			return nil
		},
	}, nil
}

func (k *killing) clientConfig() (writer, error) {
	other := `{"mcpServers": {"other": {"command": "x"}}, "keep": [1, 2.50]}`
	config := filepath.Join(k.home, ".cursor", "mcp.json")
	if err := os.WriteFile(config, []byte(other), 0o600); err != nil {
		return writer{}, err
	}
	complete := map[string]bool{other: true} // the texts that the file can have
	for _, verb := range []string{"install", "uninstall"} {
		if _, err := k.Command(k.dir, k.env, "mcp", verb, "--client", "cursor"); err != nil {
			return writer{}, err
		}
		text, err := os.ReadFile(config)
		if err != nil {
			return writer{}, err
		}
		complete[string(text)] = true
	}
	return writer{
		what: "a client's configuration and its backup",
		args: func(n int) []string {
			return []string{"mcp", []string{"install", "uninstall"}[n%2], "--client", "cursor"}
		},
		check: func([]int) error {
			for _, path := range []string{config, config + ".copse-backup"} {
				if text, err := os.ReadFile(path); err != nil {
					return err
				} else if !complete[string(text)] {
					return fmt.Errorf("%s is neither the old nor the new one: %q", path, text)
				}
			}
			return leftBehind(filepath.Dir(config))
		},
	}, nil
}

func (k *killing) registry() (writer, error) {
	file := filepath.Join(k.dir, ".agent", "climpt", "registry.json")
	before, err := os.ReadFile(file)
	if err != nil {
		return writer{}, err
	}
	template := filepath.Join(k.dir, ".agent", "climpt", "prompts", "git", "write", "commit-message", "f_default.md")
	return writer{
		what: "the registry of prompt commands",
		args: func(n int) []string {
			// Something to write each time.
			if text, err := os.ReadFile(template); err == nil {
				if begin, rest, found := strings.Cut(string(text), "description:"); found {
					_, rest, _ = strings.Cut(rest, "\n")
					_ = os.WriteFile(template, fmt.Appendf(nil, "%sdescription: Number %d\n%s", begin, n, rest), 0o644)
				}
			}
			return []string{"command", "index"}
		},
		check: func([]int) error {
			var reg struct{ Tools struct{ Commands []any } }
			if err := readJSON(file, &reg); err != nil {
				return err
			}
			if len(reg.Tools.Commands) != strings.Count(string(before), `"c1"`) {
				return errors.New("commands are lost")
			}
			return nil
		},
	}, nil
}

func (k *killing) token() (writer, error) {
	file := bearer.NewStore(filepath.Join(k.home, "copse", "tokens")).File(k.dir)
	_, err := file.Token(k.Context)
	return writer{
		what: "a token of copse up",
		args: func(int) []string { return []string{"up", "--rotate-token"} },
		check: func([]int) error {
			data, err := os.ReadFile(file.Path())
			if err == nil && len(strings.TrimSpace(string(data))) < 20 {
				err = fmt.Errorf("the token is %q", data)
			}
			return err
		},
	}, err
}

func (k *killing) answers() writer {
	return writer{
		what: "kept answers of GitHub",
		args: func(int) []string { return []string{"branch", "status", "feature/b", "--fresh"} },
		check: func(acknowledged []int) error {
			out, err := k.Command(k.dir, k.env, "branch", "status", "feature/b")
			if err == nil && len(acknowledged) > 0 && !strings.Contains(out, "A title") {
				err = fmt.Errorf("the answer is lost: %s", out)
			}
			return err
		},
	}
}

func (k *killing) exports() writer {
	return writer{
		what: "commands exported to a client",
		args: func(int) []string { return []string{"command", "export", "--client", "claude-code"} },
		check: func(acknowledged []int) error {
			files, err := filepath.Glob(filepath.Join(k.dir, ".claude", "commands", "*.md"))
			if err == nil && len(acknowledged) > 0 && len(files) == 0 {
				err = errors.New("no file is there")
			}
			for _, file := range files {
				if text, readErr := os.ReadFile(file); readErr != nil || len(text) == 0 {
					err = fmt.Errorf("%s is empty, %w", file, readErr)
				}
			}
			return err
		},
	}
}

func (k *killing) ports() writer {
	return writer{
		what: "the ports and the socket of copse up",
		args: func(int) []string { return []string{"up", "--port", "23000"} },
		span: 400 * time.Millisecond,
		check: func([]int) error {
			ports, err := filepath.Glob(filepath.Join(k.home, "copse", "ports.json"))
			if err != nil || len(ports) == 0 {
				return err
			}
			var any any
			return readJSON(ports[0], &any)
		},
	}
}

func (k *killing) journal() writer {
	return writer{
		what: "the journal of tasks",
		args: func(int) []string { return []string{"task", "run", "hello"} },
		check: func([]int) error {
			out, err := k.Command(k.dir, []string{"XDG_STATE_HOME=" + k.home}, "context", "--sections", "task", "--json")
			if err == nil && strings.Contains(out, `"unavailable"`) {
				err = fmt.Errorf("the journal cannot be read: %s", out)
			}
			return err
		},
	}
}

// readJSON reads a file that need not be there.
func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	return err
}

// leftBehind returns an error if killed processes left a temporary file that others can read,
// or more than the one that the next process removes.
func leftBehind(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, ".copse-*"))
	if err != nil {
		return err
	}
	for _, path := range left {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Mode().Perm() != 0o600 {
			return fmt.Errorf("%s was left with the mode %v", path, info.Mode())
		}
	}
	if len(left) > 1 {
		return fmt.Errorf("%d temporary files were left", len(left))
	}
	return nil
}
