package override_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/git/override"
)

func TestOf(t *testing.T) {
	t.Parallel()
	own, err := gitconfig.Parse([]byte(`
[user]
	name = harmless
[filter "lfs"]
	clean = evil
	process = evil
	required
[FILTER "X.y"]
	smudge = evil
[lfs "extension.x"]
	clean = evil
[lfs]
	standalonetransferagent = evil
[merge "m"]
	driver = evil
[hook "h"]
	command = evil
	event = post-index-change
[filter "lfs"]
	clean = evil again
`))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	users := func() (gitconfig.Config, error) {
		asked++
		return gitconfig.Parse([]byte("[filter \"lfs\"]\nclean = git-lfs clean -- %f\nrequired\n"))
	}
	got, err := override.Of(own, users)
	want := []string{
		"filter.lfs.clean=git-lfs clean -- %f", "filter.lfs.process=", "filter.lfs.required=true", "filter.X.y.smudge=",
		"lfs.extension.x.clean=", "lfs.standalonetransferagent=", "merge.m.driver=false", "hook.h.enabled=false", "hook.h.event=",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || asked != 1 {
		t.Errorf("%v, the user's configuration was read %d times\n%s", err, asked, diff)
	}
	// The user's configuration is not read for a repository that names nothing.
	if got, err := override.Of(own[:1], users); len(got) > 0 || err != nil || asked != 1 {
		t.Errorf("%v, %v, read %d times", got, err, asked)
	}
}

// A setting that a command line cannot override is refused.
func TestRefused(t *testing.T) {
	t.Parallel()
	none := func() (gitconfig.Config, error) { return nil, nil }
	if _, err := override.Of(gitconfig.Config{{Key: "filter.a=b.clean", Value: "x"}}, none); !errors.Is(err, override.ErrName) {
		t.Errorf("error is %v, want ErrName", err)
	}
	var many gitconfig.Config
	for i := range 1000 {
		many = append(many, gitconfig.Entry{Key: fmt.Sprintf("filter.%d.clean", i), Value: "x"})
	}
	if _, err := override.Of(many, none); !errors.Is(err, override.ErrTooMany) {
		t.Errorf("error is %v, want ErrTooMany", err)
	}
	broken := errors.New("broken")
	if _, err := override.Of(many[:1], func() (gitconfig.Config, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("error is %v, want that of the user's configuration", err)
	}
}

// Every fixed setting has a key and a value, and none comes twice.
func TestFixed(t *testing.T) {
	t.Parallel()
	var keys []string
	for _, s := range override.Fixed() {
		key, _, ok := strings.Cut(s, "=")
		if !ok || slices.Contains(keys, key) {
			t.Errorf("%q", s)
		}
		keys = append(keys, key)
	}
}
