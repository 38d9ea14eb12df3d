package structure

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/claimfile"
	"github.com/copse-dev/copse/internal/jira/jiratest"
)

// place is a project in which one text is everywhere.
type place struct {
	g   *gittest.Git
	dir string
	// environ names the services that are asked.
	environ []string
	// tasks means that there is a just to run recipes with.
	tasks bool
}

// place makes the project.
func newPlace(t *testing.T, text string) *place {
	t.Helper()
	g := gittest.New(t)
	p := &place{g: g, dir: filepath.Join(g.Home, fileName(text, "project"))}
	_, err := g.Env.LookPath("just")
	p.tasks = err == nil
	p.history(t, text)
	p.state(t, text)
	p.items(t, text)
	p.registry(t, text)
	if p.tasks {
		gittest.Write(t, filepath.Join(p.dir, "justfile"), justfile(text))
	}
	gittest.Write(t, filepath.Join(g.Home, "netrc"), "machine 127.0.0.1 login ada password 9876543210\n")
	p.environ = g.Env.With(
		"GH_TOKEN=0123456789", "GITHUB_TOKEN=", "GITHUB_API_URL="+gitHub(t, text), "JIRA_HOST="+jira(t, text), "JIRA_EMAIL=", "JIRA_TOKEN=",
		"DOCKER_HOST="+engine(t, text), "XDG_CACHE_HOME="+filepath.Join(g.Home, "cache"),
		"XDG_STATE_HOME="+filepath.Join(g.Home, "state"), "XDG_RUNTIME_DIR=", "NETRC="+filepath.Join(g.Home, "netrc"), asCopse+"=1")
	return p
}

// fileName returns text as the name of a file can have it.
func fileName(text, unique string) string {
	return cut(strings.NewReplacer("/", "\\", "\x00", "").Replace(text), 100) + unique
}

// branchName returns text as git takes it for a branch.
func branchName(text, unique string) string {
	var b strings.Builder
	for _, r := range text {
		if r > ' ' && r != 0x7f && !strings.ContainsRune("~^:?*[\\/.@{", r) {
			b.WriteRune(r)
		}
	}
	return "b" + cut(b.String(), 100) + unique
}

func cut(text string, most int) string {
	for len(text) > most {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// history commits, changes and checks out.
func (p *place) history(t *testing.T, text string) {
	t.Helper()
	g := p.g
	write := func(name, content string) { gittest.Write(t, filepath.Join(p.dir, name), content) }
	g.Run(g.Home, "init", "-q", "-b", "main", p.dir)
	write(".git/info/exclude", "/.tic\n/.twig\n/.agent\n/justfile\n")
	commit := func() {
		g.Run(p.dir, "add", "-A")
		g.Run(p.dir, "-c", "user.name=x"+text, "commit", "-q", "--cleanup=verbatim", "-m", "x"+text)
	}
	write(fileName(text, "1"), "one\n")
	commit()
	write(filepath.Join(fileName(text, "2"), fileName(text, "3")), "two\n")
	commit()
	g.Run(p.dir, "update-ref", "refs/heads/"+branchName(text, "-upstream"), "HEAD")
	g.Run(p.dir, "checkout", "-q", "-b", branchName(text, "-here"))
	g.Run(p.dir, "branch", "-q", "--set-upstream-to=refs/heads/"+branchName(text, "-upstream"))
	g.Run(p.dir, "worktree", "add", "-q", "-b", branchName(text, "-linked"), filepath.Join(g.Home, fileName(strings.ReplaceAll(text, "\n", " "), "linked")))
	g.Run(p.dir, "remote", "add", "origin", "https://github.com/acme/app.git")
	write(fileName(text, "1"), "one\nmore\n")
	g.Run(p.dir, "mv", "--", filepath.Join(fileName(text, "2"), fileName(text, "3")), filepath.Join(fileName(text, "2"), fileName(text, "4")))
	write(fileName(text, "5"), "untracked\n")
}

func marshal(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// state is a branch state, in which any text can be a name.
func (p *place) state(t *testing.T, text string) {
	t.Helper()
	here, parent := branchName(text, "-here"), text+" parent"
	const when = "2026-01-02T03:04:05Z"
	type object map[string]any
	gittest.Write(t, filepath.Join(p.dir, ".twig", "state.json"), marshal(object{
		"version": 1, "updated_at": when, "worktrees": []object{},
		"branches": object{
			here:         object{"branch": here, "jira_issue": "PROJ-1", "github_pr": 7, "created_at": when},
			parent:       object{"branch": parent, "jira_issue": text, "github_pr": 7, "created_at": text},
			text + " up": object{"branch": text + " up", "jira_issue": text, "github_pr": 7, "created_at": text},
		},
		"dependencies": []object{
			{"id": "1", "child": here, "parent": parent, "created_at": when},
			{"id": "2", "child": parent, "parent": text + " root", "created_at": when},
			{"id": "3", "child": text + " up", "parent": here, "created_at": when},
		},
		"root_branches": []object{{"id": "4", "branch": text + " root", "is_default": true, "created_at": when}},
	}))
}

// items is a store whose every value is the text.
func (p *place) items(t *testing.T, text string) {
	t.Helper()
	quoted := marshal(text)
	write := func(name, content string) { gittest.Write(t, filepath.Join(p.dir, ".tic", name), content) }
	write("config.yml", fmt.Sprintf("backend: local\ntypes: [%[1]s, task]\nstatuses: [backlog, %[1]s, done]\ncurrent_iteration: %[1]s\niterations: [%[1]s]\nnext_id: 3\n", quoted))
	for id := range 2 {
		write(fmt.Sprintf("items/%d.md", id+1), fmt.Sprintf("---\nid: \"%d\"\ntitle: %[2]s\ntype: %[2]s\nstatus: %[2]s\niteration: %[2]s\npriority: %[2]s\nassignee: %[2]s\n"+
			"labels: [%[2]s, %[2]s]\ncreated: %[2]s\nupdated: %[2]s\n---\n", id+1, quoted))
	}
	// A claim, as another clone can push it or an archive can hold it.
	now := time.Now().UTC()
	agent := claim.Agent{Name: text, Session: text, Worktree: text, Host: text}
	claim := claimfile.Record{Item: claimed, Created: valid(text), Claim: claim.Claim{Holder: agent, Since: now, Renewed: now, Expires: now.Add(time.Hour), StolenFrom: text}}
	content, err := claim.Text()
	if err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, filepath.Join(p.dir, ".git", "copse", "claims", claimfile.Name(claimed, valid(text))), content)
}

// claimed is the item that an agent with a hostile name holds.
const claimed = 2

// commands is more than a client is offered, so that there is a prompt which looks for one.
const commands = 101

// registry is one of prompt commands.
func (p *place) registry(t *testing.T, text string) {
	t.Helper()
	type object map[string]any
	var all []object
	for i := range commands {
		all = append(all, object{
			"c1": "git", "c2": fmt.Sprintf("write%d", i), "c3": "thing", "description": "thing " + text, "usage": text,
			"options": object{"edition": []string{"default", text}, "adaptation": []string{"default", text}, "file": true, "stdin": true, "destination": true},
			"uv":      []object{{"name": text}},
		})
	}
	gittest.Write(t, filepath.Join(p.dir, ".agent/climpt/registry.json"), marshal(object{"version": "1.0.0", "tools": object{"availableConfigs": []string{"git"}, "commands": all}}))
	gittest.Write(t, filepath.Join(p.dir, ".agent/climpt/config/git-app.yml"), `# The directories of the templates of the domain "git".
working_dir: ".agent/climpt"
app_prompt:
  base_dir: "prompts/git"
app_schema:
  base_dir: "schema/git"
`)
	gittest.Write(t, filepath.Join(p.dir, ".agent/climpt/config/git-user.yml"), `# The actions and targets of the domain. Add the words of each new prompt here.
params:
  two:
    directiveType:
      pattern: "^(write[0-9]+)$"
    layerType:
      pattern: "^(thing)$"
`)
	gittest.Write(t, filepath.Join(p.dir, ".agent/climpt/prompts/git/write0/thing/f_default.md"), "x"+text+"\n{uv-x}\n"+text)
}

// justfile has one recipe, which prints the text and what it is called with, and fails.
func justfile(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == 0 || r == utf8.RuneError:
		case r < ' ' || r > '~' || strings.ContainsRune(`"\{}`, r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return fmt.Sprintf("[doc(\"%[1]s\")]\n[group(\"%[1]s\")]\nleak a=\"%[1]s\" *b:\n    @printf '%%s\\n' {{quote(a)}} && exit 3\n", b.String())
}

func gitHub(t *testing.T, text string) string {
	t.Helper()
	number := func(n int) githubtest.PullRequest {
		return githubtest.PullRequest{
			Number: n, Title: text, Body: &text, State: "open", Author: "x" + text, Base: text, Head: text, SHA: fmt.Sprintf("%040x", n),
			MergeableState: text, ReviewDecision: text, RequestedReviewers: []string{"x" + text}, RequestedTeams: []string{"x" + text},
			Reviews:   []githubtest.Review{{Author: "x" + text, State: "CHANGES_REQUESTED", Body: text}, {Author: "y" + text, State: text}},
			CheckRuns: []githubtest.CheckRun{{Name: text, Conclusion: "failure"}, {Name: text + "2", Status: text, Conclusion: text}},
			Statuses:  []githubtest.Status{{Context: text, State: "failure"}},
			Override:  map[string]any{"author_association": text, "state": text},
		}
	}
	server, err := githubtest.Start(githubtest.Fixture{
		Repositories: []githubtest.Repository{{Name: "acme/app", PullRequests: []githubtest.PullRequest{number(7)}}},
		Date:         "2026-03-04T05:06:07Z",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server.URL
}

func jira(t *testing.T, text string) string {
	t.Helper()
	tracker := jiratest.New(jiratest.Fixture{
		Login: "ada", Secret: "9876543210", Users: []jiratest.User{{Name: "a", DisplayName: text}},
		Issues: []jiratest.Issue{{Key: "PROJ-1", Summary: text, Wiki: text, Status: text, Assignee: "a", Updated: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}},
	})
	server := httptest.NewServer(tracker)
	t.Cleanup(func() {
		tracker.Close()
		server.Close()
	})
	return server.URL
}

// engine returns a container engine with two containers that failed. It refuses the log of one.
func engine(t *testing.T, text string) string {
	t.Helper()
	type object map[string]any
	answer := func(w http.ResponseWriter, status int, v any) {
		w.WriteHeader(status)
		fmt.Fprint(w, marshal(v))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/containers/json", func(w http.ResponseWriter, _ *http.Request) {
		one := func(id, state, status string) object {
			return object{"Id": id, "Names": []string{"/" + text + id}, "Image": text, "State": state, "Status": status, "Labels": object{"x" + text: text}}
		}
		answer(w, http.StatusOK, []object{one("aaaaaaaaaaaa", "exited", "Exited (1)"), one("bbbbbbbbbbbb", "running", "Up (unhealthy)"), one("cccccccccccc", text, "("+text+")")})
	})
	mux.HandleFunc("/containers/{id}/json", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, object{"State": object{"Status": text, "ExitCode": 1, "FinishedAt": text, "Health": object{"Status": "unhealthy"}}})
	})
	mux.HandleFunc("/containers/{id}/logs", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "bbbbbbbbbbbb" {
			answer(w, http.StatusInternalServerError, object{"message": text})
			return
		}
		log := "x" + text + "\n"
		header := make([]byte, 8)
		binary.BigEndian.PutUint32(header[4:], uint32(len(log)))
		fmt.Fprintf(w, "%s%s", header, log)
	})
	// The path of a socket is short.
	dir, err := os.MkdirTemp("", "engine") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Skip("no unix sockets here")
	}
	server := httptest.NewUnstartedServer(mux)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return "unix://" + path
}
