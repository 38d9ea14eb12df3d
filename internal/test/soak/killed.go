package main

import (
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
)

// writer is a command that writes a file. It is killed at some moment; what it said to have
// done must be there afterwards, and the file must be whole.
type writer struct {
	what string
	args func(n int) []string
	// check looks at the file: acknowledged are the runs that ended well.
	check func(acknowledged []int) error
	// span is the time in which it writes, for one that does not end; 0 is what it takes.
	span time.Duration
}

// killedWriters kills each kind of writer with SIGKILL, over and over.
func killedWriters(r *rig) ([]result, error) {
	dir, err := r.repository("killed")
	if err != nil {
		return nil, err
	}
	home := filepath.Join(r.dir, "home")
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
	if out, err := exec.CommandContext(r.ctx, "git", "-C", dir, "remote", "add", "origin", "https://github.com/acme/app.git").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git remote: %w: %s", err, out)
	}
	if _, err := r.command(dir, nil, "branch", "link", "feature/b", "--pr", "7"); err != nil {
		return nil, err
	}
	writers, err := r.writers(dir, home, env)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	span := r.until.Sub(begin)
	var results []result
	for i, w := range writers {
		until := begin.Add(span * time.Duration(i+1) / time.Duration(len(writers)))
		res := result{What: "kill -9 while writing " + w.what}
		var acknowledged []int
		killed := 0
		typical := max(w.span, 30*time.Millisecond)
		for n := 0; n < 10 || time.Now().Before(until) && r.ctx.Err() == nil; n++ {
			cmd := exec.CommandContext(r.ctx, r.copse(), w.args(n)...)
			cmd.Dir, cmd.Env = dir, env
			start := time.Now()
			if err := cmd.Start(); err != nil {
				return results, err
			}
			kill := time.AfterFunc(time.Duration(r.random.Int64N(int64(typical*5/4))), func() { _ = cmd.Process.Kill() })
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
		results = append(results, res)
	}
	return results, nil
}

func (r *rig) writers(dir, home string, env []string) ([]writer, error) {
	other := `{"mcpServers": {"other": {"command": "x"}}, "keep": [1, 2.50]}`
	config := filepath.Join(home, ".cursor", "mcp.json")
	if err := os.WriteFile(config, []byte(other), 0o600); err != nil {
		return nil, err
	}
	whole := map[string]bool{other: true} // the texts that the file can have
	for _, verb := range []string{"install", "uninstall"} {
		if _, err := r.command(dir, env, "mcp", verb, "--client", "cursor"); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(config)
		if err != nil {
			return nil, err
		}
		whole[string(text)] = true
	}
	file := bearer.NewStore(filepath.Join(home, "copse", "tokens")).File(dir)
	if _, err := file.Token(r.ctx); err != nil {
		return nil, err
	}
	token := file.Path()
	var repos []string
	for i := range 40 {
		repo := filepath.Join(r.dir, fmt.Sprintf("repo-%d", i))
		if out, err := exec.CommandContext(r.ctx, "git", "init", "-q", repo).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("git init: %w: %s", err, out)
		}
		repos = append(repos, repo)
	}
	readJSON := func(path string, into any) error {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		return err
	}
	registryFile := filepath.Join(dir, ".agent", "climpt", "registry.json")
	registry, err := os.ReadFile(registryFile)
	if err != nil {
		return nil, err
	}
	list := []writer{
		{
			what: "work items",
			args: func(n int) []string { return []string{"item", "create", fmt.Sprintf("item number %d", n)} },
			check: func(acknowledged []int) error {
				out, err := r.command(dir, nil, "item", "list", "--all", "--json")
				if err != nil {
					return err
				}
				var last string
				for _, n := range acknowledged {
					if last = fmt.Sprintf("item number %d", n); !strings.Contains(out, `"`+last+`"`) {
						return fmt.Errorf("%q is lost", last)
					}
				}
				return nil
			},
		},
		{
			what: "the branch state",
			args: func(n int) []string { return []string{"branch", "link", "feature/a", "--pr", fmt.Sprint(n + 1)} },
			check: func(acknowledged []int) error {
				data, err := os.ReadFile(twig.Path(dir))
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
		},
		{
			what: "the list of repositories",
			args: func(n int) []string { return []string{"repo", "add", repos[n%len(repos)]} },
			check: func(acknowledged []int) error {
				var entries []struct{ Path string }
				if err := readJSON(filepath.Join(home, "twig", "registry.json"), &entries); err != nil {
					return err
				}
				for _, n := range acknowledged {
					found := false
					for _, e := range entries {
						found = found || filepath.Base(e.Path) == filepath.Base(repos[n%len(repos)])
					}
					if !found {
						return fmt.Errorf("%s is lost", repos[n%len(repos)])
					}
				}
				return nil
			},
		},
		{
			what: "a client's configuration and its backup",
			args: func(n int) []string {
				return []string{"mcp", []string{"install", "uninstall"}[n%2], "--client", "cursor"}
			},
			check: func([]int) error {
				for _, path := range []string{config, config + ".copse-backup"} {
					if text, err := os.ReadFile(path); err != nil {
						return err
					} else if !whole[string(text)] {
						return fmt.Errorf("%s is neither the old nor the new one: %q", path, text)
					}
				}
				return leftBehind(filepath.Dir(config))
			},
		},
		{
			what: "the registry of prompt commands",
			args: func(n int) []string {
				// Something to write each time.
				template := filepath.Join(dir, ".agent", "climpt", "prompts", "git", "write", "commit-message", "f_default.md")
				if text, err := os.ReadFile(template); err == nil {
					lines := strings.SplitN(string(text), "description:", 2)
					if len(lines) == 2 {
						_, rest, _ := strings.Cut(lines[1], "\n")
						_ = os.WriteFile(template, []byte(fmt.Sprintf("%sdescription: Number %d\n%s", lines[0], n, rest)), 0o644)
					}
				}
				return []string{"command", "index"}
			},
			check: func([]int) error {
				var reg struct{ Tools struct{ Commands []any } }
				if err := readJSON(registryFile, &reg); err != nil {
					return err
				}
				if len(reg.Tools.Commands) != strings.Count(string(registry), `"c1"`) {
					return errors.New("commands are lost")
				}
				return nil
			},
		},
		{
			what: "a token of copse up",
			args: func(int) []string { return []string{"up", "--rotate-token"} },
			check: func([]int) error {
				data, err := os.ReadFile(token)
				if err == nil && len(strings.TrimSpace(string(data))) < 20 {
					err = fmt.Errorf("the token is %q", data)
				}
				return err
			},
		},
	}
	list = append(list, writer{
		what: "kept answers of GitHub",
		args: func(int) []string { return []string{"branch", "status", "feature/b", "--fresh"} },
		check: func(acknowledged []int) error {
			out, err := r.command(dir, env, "branch", "status", "feature/b")
			if err == nil && len(acknowledged) > 0 && !strings.Contains(out, "A title") {
				err = fmt.Errorf("the answer is lost: %s", out)
			}
			return err
		},
	}, writer{
		what: "commands exported to a client",
		args: func(int) []string { return []string{"command", "export", "--client", "claude-code"} },
		check: func(acknowledged []int) error {
			files, err := filepath.Glob(filepath.Join(dir, ".claude", "commands", "*.md"))
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
	}, writer{
		what: "the ports and the socket of copse up",
		args: func(int) []string { return []string{"up", "--port", "23000"} },
		span: 400 * time.Millisecond,
		check: func([]int) error {
			ports, err := filepath.Glob(filepath.Join(home, "copse", "ports.json"))
			if err != nil || len(ports) == 0 {
				return err
			}
			var any any
			return readJSON(ports[0], &any)
		},
	})
	if _, err := exec.LookPath("just"); err == nil {
		list = append(list, writer{
			what: "the journal of tasks",
			args: func(int) []string { return []string{"task", "run", "hello"} },
			check: func([]int) error {
				out, err := r.command(dir, []string{"XDG_STATE_HOME=" + home}, "context", "--sections", "task", "--json")
				if err == nil && strings.Contains(out, `"unavailable"`) {
					err = fmt.Errorf("the journal cannot be read: %s", out)
				}
				return err
			},
		})
	}
	return list, nil
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
