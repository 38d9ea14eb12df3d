package copse_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/test/need"
)

// registries are hosts of package registries and their mirrors. What fetches packages takes
// its sources from the configuration of the machine.
var registries = regexp.MustCompile(`\b(registry\.npmjs\.org|registry\.yarnpkg\.com|proxy\.golang\.org|sum\.golang\.org|goproxy\.(io|cn)|[a-z0-9.-]*\.debian\.org|[a-z0-9.-]*archive\.ubuntu\.com|pypi\.org|files\.pythonhosted\.org|crates\.io|registry-1\.docker\.io|[a-z0-9-]+\.jfrog\.io)\b`)

// registryWords are in each name that registries matches. Looking for them first is much faster
// in a large file.
var registryWords = []string{"npmjs", "yarnpkg", "golang.org", "goproxy", "debian.org", "ubuntu.com", "pypi", "pythonhosted", "crates", "docker", "jfrog"}

// TestNoFileNamesARegistry keeps hosts of registries and mirrors out of the repository.
func TestNoFileNamesARegistry(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		need.Skip(t, "git is not installed")
	}
	out, err := exec.CommandContext(t.Context(), git, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		need.Skip(t, "this is not a clone of the repository")
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(names) < 100 {
		t.Fatalf("git lists only %d files", len(names))
	}
	for _, name := range names {
		if filepath.Ext(name) == ".sum" {
			continue
		}
		text, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			continue // deleted, and not committed yet
		}
		if !slices.ContainsFunc(registryWords, func(word string) bool { return bytes.Contains(text, []byte(word)) }) {
			continue
		}
		if found := registries.Find(text); found != nil {
			t.Errorf("%s names the registry %s: take it from the configuration of the machine", name, found)
		}
	}
	if !registries.MatchString("https://" + strings.Join([]string{"registry", "npmjs", "org"}, ".") + "/x") {
		t.Error("the pattern finds nothing")
	}
}

// Actions are pinned to a commit, with the version in a comment.
func TestActionsArePinned(t *testing.T) {
	t.Parallel()
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.*)$`)
	pinned := regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	files, err := filepath.Glob(filepath.Join(".github", "workflows", "*.yml"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := uses.FindAllSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("%s uses no action", file)
		}
		for _, m := range found {
			if !pinned.Match(m[1]) {
				t.Errorf("%s: pin %s to a commit, and name the version", file, m[1])
			}
		}
	}
}
