package main

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/jira/jiratest"
	"github.com/copse-dev/copse/internal/test/need"
)

// machineGit adds this machine's git to the image, since the base image of a release cannot be
// fetched here. The rest is as in the Containerfile.
const machineGit = `FROM localhost/copse-image-test:latest
COPY root/ /
USER 1000
`

const tickets = `{"cloud": true, "login": "ada@example.com", "secret": "token", "me": "a1", "users": [{"name": "a1", "display_name": "Ada"}],
 "issues": [{"key": "SHOP-8", "summary": "Stay logged in", "status": "In Progress", "updated": "2026-03-03T00:00:00Z",
   "document": {"type": "doc", "version": 1, "content": []}}]}`

// containerImage builds the image, and calls tools in a container as a client does: with
// nothing configured, and with a repository and a login for Jira.
func containerImage(t *testing.T, npm string) {
	engine := os.Getenv("COPSE_TEST_PODMAN")
	if engine == "" {
		need.Skip(t, "COPSE_TEST_PODMAN is not the command line of a Podman; CI has one")
	}
	dir := t.TempDir()
	platform := nodeOS[runtime.GOOS] + "-" + nodeCPU[runtime.GOARCH]
	data, err := os.ReadFile(filepath.Join(npm, platform, "bin", "copse"))
	if err != nil {
		t.Fatal(err)
	}
	if err := put(filepath.Join(dir, "linux", runtime.GOARCH, "copse"), data, 0o755); err != nil {
		t.Fatal(err)
	}
	podman := func(input string, args ...string) string {
		t.Helper()
		return output(t, dir, input, append(strings.Fields(engine), args...)...)
	}
	const tag = "localhost/copse-image-test:latest"
	podman("", "build", "--quiet", "--target", "alone", "--isolation", "chroot",
		"--build-arg", "TARGETARCH="+runtime.GOARCH, "--file", absolute(t, filepath.Join("..", "Containerfile")), "--tag", tag, dir)
	t.Cleanup(func() {
		argv := append(strings.Fields(engine), "rmi", "--force", tag, tag+"-git")
		_ = exec.Command(argv[0], argv[1:]...).Run()
	})
	label := podman("", "image", "inspect", "--format", `{{index .Labels "io.modelcontextprotocol.server.name"}}`, tag)
	if strings.TrimSpace(label) != registryID {
		t.Errorf("the image says that it is %q", label)
	}
	limits := []string{"--rm", "--interactive", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"}
	listsTools(t, podman(ask, append(append([]string{"run", "--network", "none"}, limits...), tag)...))

	with := filepath.Join(dir, "with-git")
	copyGit(t, filepath.Join(with, "root"))
	if err := put(filepath.Join(with, "Containerfile"), []byte(machineGit), 0o644); err != nil {
		t.Fatal(err)
	}
	podman("", "build", "--quiet", "--isolation", "chroot", "--pull=never", "--file", filepath.Join(with, "Containerfile"), "--tag", tag+"-git", with)
	run := append([]string{
		"run", "--network", "host", "--mount", "type=bind,src=" + checkout(t) + ",dst=/repository",
		"--env", "JIRA_HOST=" + tracker(t), "--env", "JIRA_EMAIL=ada@example.com", "--env", "JIRA_TOKEN=token",
	}, limits...)
	answers := podman(greeting+call(1, "get_current_branch", `{}`)+call(2, "read_file", `{"path": "README.md"}`)+
		call(3, "get_project_context", `{"sections": ["git"]}`)+call(4, "get_jira_issue", `{"issue_key": "SHOP-8"}`), append(run, tag+"-git")...)
	for id, want := range map[int]string{
		1: `"branch": "feature/SHOP-8"`, 2: "A shop.\n", 3: "1 untracked", 4: `"summary": "Stay logged in"`,
	} {
		if text := answerOf(t, answers, id); !strings.Contains(strings.ReplaceAll(text, `":"`, `": "`), want) {
			t.Errorf("answer %d is %q, want %q in it", id, text, want)
		}
	}
}

// checkout makes a repository that every user can read.
func checkout(t *testing.T) string {
	t.Helper()
	g := gittest.New(t)
	dir := filepath.Join(g.Home, "shop")
	if err := put(filepath.Join(dir, "README.md"), []byte("A shop.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	g.Run(dir, "init", "-q", "-b", "feature/SHOP-8")
	g.Run(dir, "add", ".")
	g.Run(dir, "commit", "-q", "-m", "A shop")
	if err := put(filepath.Join(dir, "new.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tracker starts a Jira, and returns its address.
func tracker(t *testing.T) string {
	t.Helper()
	fixture, err := jiratest.Load(strings.NewReader(tickets))
	if err != nil {
		t.Fatal(err)
	}
	jira := jiratest.New(fixture)
	server := httptest.NewServer(jira)
	t.Cleanup(func() {
		jira.Close()
		server.Close()
	})
	return server.URL
}

// copyGit copies this machine's git, with the libraries that it loads, below a directory.
func copyGit(t *testing.T, root string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		need.Skip(t, "git is not installed")
	}
	libraries, err := exec.CommandContext(t.Context(), "ldd", git).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"usr/bin/git": git}
	for field := range strings.FieldsSeq(string(libraries)) {
		if name, ok := strings.CutPrefix(field, "/"); ok {
			files[name] = field
		}
	}
	for name, from := range files {
		data, err := os.ReadFile(from)
		if err == nil {
			err = put(filepath.Join(root, name), data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := put(filepath.Join(root, "etc", "gitconfig"), []byte("[safe]\n\tdirectory = *\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
