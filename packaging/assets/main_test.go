package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The pages have no noise, and the Homebrew cask lists each of them.
func TestCaskHasAllPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	cask, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "man", "*.1.gz"))
	if err != nil || len(pages) < 50 {
		t.Fatal(pages, err)
	}
	noise := regexp.MustCompile(`\[=|=""|fP=|help for |Auto generated|INHERITED|\n\t`)
	want := 0
	for _, page := range pages {
		text := unzip(t, page)
		if found := noise.FindString(text); found != "" {
			t.Errorf("%s contains %q", filepath.Base(page), found)
		}
		if strings.HasSuffix(page, "copse-item-list.1.gz") {
			checkPage(t, text)
		}
		name := filepath.Base(page)
		if !strings.HasPrefix(name, "copse") && !strings.HasPrefix(name, "twig-mcp") {
			continue // packages leave tic out
		}
		if want++; !strings.Contains(string(cask), "- man/"+name+"\n") {
			t.Errorf("the cask in .goreleaser.yaml does not list man/%s", name)
		}
	}
	if n := strings.Count(string(cask), "- man/"); n != want {
		t.Errorf("the cask lists %d pages of %d", n, want)
	}
}

// checkPage compares parts of a page with what the help of the command shows.
func checkPage(t *testing.T, page string) {
	t.Helper()
	for _, want := range []string{
		".SH SYNOPSIS\n.B copse item list [flags]\n",
		".SH OPTIONS\n.TP\n\\fB\\-\\-all\\fP\nlist the items of all iterations\n",
		".TP\n\\fB\\-\\-limit\\fP \\fInumber\\fP\nlist at most this number of items (default: all)\n",
		".SH GLOBAL OPTIONS\n.TP\n\\fB\\-\\-quiet\\fP\nprint only errors\n",
		".SH EXAMPLES\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q:\n%s", want, page)
		}
	}
}

func unzip(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
