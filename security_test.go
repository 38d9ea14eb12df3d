package copse_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// holder is the last cell of a promise: what holds it, and where that is.
var holder = regexp.MustCompile("^`([A-Za-z0-9_.]+)` in ([A-Za-z0-9_./]+)$")

// Every promise of the threat model names a test, and the test exists.
func TestPromisesAreHeld(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	promises, inTable := 0, false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inTable = false
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		last := strings.TrimSpace(cells[len(cells)-1])
		switch {
		case last == "held by":
			inTable = true
			continue
		case !inTable || strings.HasPrefix(last, "---"):
			continue
		}
		promises++
		named := holder.FindStringSubmatch(last)
		if named == nil {
			t.Errorf("%s: want `TestName` in directory, or `script.txtar` in testdata/script", line)
			continue
		}
		if !exists(t, named[1], filepath.FromSlash(named[2])) {
			t.Errorf("%s: there is no such test", line)
		}
	}
	if promises < 30 {
		t.Errorf("only %d promises were found; is the table still in its form?", promises)
	}
}

// exists reports whether a directory has a test function or a script of that name.
func exists(t *testing.T, name, dir string) bool {
	t.Helper()
	if strings.HasSuffix(name, ".txtar") {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
