package credential_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/copse-dev/copse/internal/credential"
)

// place is everything a Finder looks at.
type place struct {
	netrc string // "-" means no file
	env   map[string]string
	gh    func(ctx context.Context, host string) (string, error)
	goos  string
}

func (p place) finder(t *testing.T) credential.Finder {
	t.Helper()
	home := t.TempDir()
	if p.netrc != "-" {
		name := ".netrc"
		if p.goos == "windows" {
			name = "_netrc"
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(p.netrc), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return credential.Finder{
		Getenv:  func(name string) string { return p.env[name] },
		Home:    home,
		GOOS:    p.goos,
		GHToken: p.gh,
	}
}

func gh(token string, err error) func(context.Context, string) (string, error) {
	return func(context.Context, string) (string, error) { return token, err }
}

// result returns a credential or error as one text.
func result(c credential.Credential, err error) string {
	if err != nil {
		return err.Error()
	}
	return c.Login + ":" + c.Secret + " from " + c.Source
}

func TestGitHub(t *testing.T) {
	t.Parallel()
	type env = map[string]string
	failed := errors.New("exit status 1: no oauth token")
	all := env{"GH_TOKEN": "t1", "GITHUB_TOKEN": "t2", "GH_ENTERPRISE_TOKEN": "e1", "GITHUB_ENTERPRISE_TOKEN": "e2"}
	tests := []struct {
		name, host string
		place      place
		want       string
	}{
		{"netrc first", "github.com", place{"machine api.github.com login a password b\nmachine github.com login u password p", all, gh("g", nil), "linux"},
			"u:p from ~/.netrc machine github.com"},
		{"then netrc for the API", "github.com", place{"machine api.github.com login a password b", all, gh("g", nil), "linux"},
			"a:b from ~/.netrc machine api.github.com"},
		{"then the first variable", "github.com", place{"-", all, gh("g", nil), "linux"}, ":t1 from $GH_TOKEN"},
		{"then the second variable", "github.com", place{"-", env{"GH_TOKEN": " ", "GITHUB_TOKEN": "t2\n"}, gh("g", nil), "linux"}, ":t2 from $GITHUB_TOKEN"},
		{"then gh", "github.com", place{"-", nil, gh("g\n", nil), "linux"}, ":g from gh auth token"},
		{"host in capitals", "GitHub.com", place{"-", all, nil, "linux"}, ":t1 from $GH_TOKEN"},
		{"Windows file", "github.com", place{"machine github.com login u password p", nil, nil, "windows"},
			"u:p from ~/_netrc machine github.com"},
		{"incomplete netrc entry", "github.com", place{"machine github.com login u\nmachine api.github.com login a password b", nil, nil, "linux"},
			"a:b from ~/.netrc machine api.github.com"},

		{"nothing", "github.com", place{"-", nil, gh("", failed), "linux"},
			"no credentials for github.com: ~/.netrc: no such file; $GH_TOKEN, $GITHUB_TOKEN: not set; gh: not logged in to github.com"},
		{"nothing in netrc", "github.com", place{"machine gitlab.com login u password p", nil, gh("", nil), "linux"},
			"no credentials for github.com: ~/.netrc: no machine github.com or api.github.com; $GH_TOKEN, $GITHUB_TOKEN: not set; gh: not logged in to github.com"},
		{"no gh", "github.com", place{"", nil, gh("", credential.ErrNotInstalled), "linux"},
			"no credentials for github.com: ~/.netrc: no machine github.com or api.github.com; $GH_TOKEN, $GITHUB_TOKEN: not set; gh: not installed"},
		{"gh not asked, empty password, default", "github.com", place{"machine github.com login u password \"\"\ndefault login x password y", nil, nil, "linux"},
			"no credentials for github.com: ~/.netrc: machine github.com lacks a login or a password, no machine api.github.com, its default entry is not used; $GH_TOKEN, $GITHUB_TOKEN: not set"},

		{"tenant that is named", "octo.ghe.com", place{"-", env{"GH_HOST": "Octo.ghe.com", "GH_TOKEN": "t1"}, nil, "linux"}, ":t1 from $GH_TOKEN"},
		{"tenant of a workflow", "octo.ghe.com", place{"-", env{"GITHUB_SERVER_URL": "https://octo.ghe.com", "GITHUB_TOKEN": "t2"}, nil, "linux"}, ":t2 from $GITHUB_TOKEN"},
		{"tenant through gh", "octo.ghe.com", place{"-", env{"GH_TOKEN": "t1"}, gh("g", nil), "linux"}, ":g from gh auth token"},
		{"tenant that a remote names", "evil.ghe.com", place{"-", env{"GH_TOKEN": "t1", "GH_HOST": "octo.ghe.com"}, gh("t1", nil), "linux"},
			"no credentials for evil.ghe.com: ~/.netrc: no such file; $GH_TOKEN: set, but used for a host of ghe.com only if $GH_HOST is evil.ghe.com, or gh has a login for it; gh: offered only a token from the environment, which is for another host"},
		{"own server in netrc", "ghe.example.com", place{"machine ghe.example.com login u password p", all, nil, "linux"},
			"u:p from ~/.netrc machine ghe.example.com"},
		{"own server named", "ghe.example.com", place{"-", env{"GH_HOST": "GHE.example.com", "GH_ENTERPRISE_TOKEN": "e1", "GH_TOKEN": "t1"}, nil, "linux"},
			":e1 from $GH_ENTERPRISE_TOKEN"},
		{"own server named, second variable", "ghe.example.com", place{"-", env{"GH_HOST": "ghe.example.com", "GITHUB_ENTERPRISE_TOKEN": "e2"}, nil, "linux"},
			":e2 from $GITHUB_ENTERPRISE_TOKEN"},
		{"own server through gh", "ghe.example.com", place{"-", all, gh("g", nil), "linux"}, ":g from gh auth token"},
		{"own server without anything", "ghe.example.com", place{"-", env{"GH_TOKEN": "t1"}, nil, "linux"},
			"no credentials for ghe.example.com: ~/.netrc: no such file; $GH_ENTERPRISE_TOKEN, $GITHUB_ENTERPRISE_TOKEN: not set"},

		{"host out of a hostile remote", "evil.example", place{"machine github.com login u password p", all, gh("e1", nil), "linux"},
			"no credentials for evil.example: ~/.netrc: no machine evil.example; $GH_ENTERPRISE_TOKEN: set, but used only for the host in $GH_HOST; gh: offered only a token from the environment, which is for another host"},
		{"other than the named host", "evil.example", place{"-", env{"GH_HOST": "ghe.example.com", "GITHUB_ENTERPRISE_TOKEN": "e2"}, gh("e2", nil), "linux"},
			"no credentials for evil.example: ~/.netrc: no such file; $GITHUB_ENTERPRISE_TOKEN: set, but used only for the host in $GH_HOST; gh: offered only a token from the environment, which is for another host"},
		{"named host gets no other token", "ghe.example.com", place{"-", env{"GH_HOST": "ghe.example.com", "GITHUB_TOKEN": "t2"}, nil, "linux"},
			"no credentials for ghe.example.com: ~/.netrc: no such file; $GH_ENTERPRISE_TOKEN, $GITHUB_ENTERPRISE_TOKEN: not set"},
		{"lookalike", "github.com.evil.example", place{"-", env{"GH_TOKEN": "t1"}, nil, "linux"},
			"no credentials for github.com.evil.example: ~/.netrc: no such file; $GH_ENTERPRISE_TOKEN, $GITHUB_ENTERPRISE_TOKEN: not set"},
		{"lookalike of ghe.com", "evilghe.com", place{"-", env{"GH_TOKEN": "t1"}, nil, "linux"},
			"no credentials for evilghe.com: ~/.netrc: no such file; $GH_ENTERPRISE_TOKEN, $GITHUB_ENTERPRISE_TOKEN: not set"},
		{"option as host", "--help", place{"-", all, gh("g", nil), "linux"}, `no credentials for "--help": not a host name`},
		{"control character in host", "a\x1bb", place{"-", all, gh("g", nil), "linux"}, `no credentials for "a\x1bb": not a host name`},
		{"no host", "", place{"-", all, gh("g", nil), "linux"}, `no credentials for "": not a host name`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := result(tt.place.finder(t).GitHub(t.Context(), tt.host)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A token of the environment goes to the tenants of ghe.com for which gh has a login, and to no other.
func TestTenants(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	hosts := "github.com:\n    user: evil.ghe.com\n'octo.ghe.com':\n    users:\n        evil.ghe.com:\n"
	file := filepath.Join(home, ".config", "gh", "hosts.yml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(hosts), 0o600)); err != nil {
		t.Fatal(err)
	}
	f := credential.Finder{Getenv: func(name string) string { return map[string]string{"GH_TOKEN": "t1"}[name] }, Home: home, GOOS: "linux"}
	for host, want := range map[string]bool{"octo.ghe.com": true, "evil.ghe.com": false, "o.ghe.com": false} {
		if _, err := f.GitHub(t.Context(), host); (err == nil) != want {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestJira(t *testing.T) {
	t.Parallel()
	machines := []string{"acme.atlassian.net", "atlassian.net"}
	tests := []struct {
		name     string
		place    place
		machines []string
		want     string
		server   bool // not Atlassian's
	}{
		{"variables first", place{netrc: "machine acme.atlassian.net login u password p", env: map[string]string{"JIRA_EMAIL": "ada@example.com", "JIRA_TOKEN": " t\n"}}, machines,
			"ada@example.com:t from $JIRA_EMAIL and $JIRA_TOKEN", false},
		{"a personal access token", place{netrc: "-", env: map[string]string{"JIRA_PAT": "pat"}}, machines, ":pat from $JIRA_PAT", false},
		{"both in the cloud", place{env: map[string]string{"JIRA_PAT": "pat", "JIRA_EMAIL": "a", "JIRA_TOKEN": "t"}}, machines, "a:t from $JIRA_EMAIL and $JIRA_TOKEN", false},
		{"both elsewhere", place{env: map[string]string{"JIRA_PAT": "pat", "JIRA_EMAIL": "a", "JIRA_TOKEN": "t"}}, []string{"jira.example"}, ":pat from $JIRA_PAT", true},
		{"half a login", place{netrc: "", env: map[string]string{"JIRA_EMAIL": "a"}}, machines,
			"no credentials for acme.atlassian.net: $JIRA_EMAIL: set, but $JIRA_TOKEN is not; ~/.netrc: no machine acme.atlassian.net or atlassian.net", false},
		{"the other half", place{netrc: "machine acme.atlassian.net login u password p", env: map[string]string{"JIRA_TOKEN": "t"}}, machines,
			"u:p from ~/.netrc machine acme.atlassian.net", false},
		{"a token in netrc", place{netrc: "machine jira.example password pat"}, []string{"jira.example"}, ":pat from ~/.netrc machine jira.example", true},
		{"a login before a token", place{netrc: "machine jira.example password pat\nmachine jira.example login u password p"}, []string{"jira.example"},
			"u:p from ~/.netrc machine jira.example", true},
		{"host first", place{netrc: "machine atlassian.net login a password b\nmachine acme.atlassian.net login u password p"}, machines,
			"u:p from ~/.netrc machine acme.atlassian.net", false},
		{"then the fallback", place{netrc: "machine atlassian.net login a password b"}, machines,
			"a:b from ~/.netrc machine atlassian.net", false},
		{"neither", place{netrc: "default login x password y"}, machines,
			"no credentials for acme.atlassian.net: $JIRA_EMAIL with $JIRA_TOKEN, $JIRA_PAT: not set; ~/.netrc: no machine acme.atlassian.net or atlassian.net, its default entry is not used", false},
		{"no file", place{netrc: "-", env: map[string]string{"GH_TOKEN": "t"}}, machines,
			"no credentials for acme.atlassian.net: $JIRA_EMAIL with $JIRA_TOKEN, $JIRA_PAT: not set; ~/.netrc: no such file", false},
		{"no host", place{netrc: "machine a login u password p"}, nil, "no credentials for Jira: no host is known", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := result(tt.place.finder(t).Jira(t.Context(), tt.machines, !tt.server)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestNetrcVariable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine, wide, large := filepath.Join(dir, "mine"), filepath.Join(dir, "wide"), filepath.Join(dir, "large")
	for path, data := range map[string]string{
		mine: "machine github.com login u password p", wide: "\xff\xfem\x00", large: strings.Repeat("#", 1<<20+1),
	} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		mine:                       "u:p from $NETRC machine github.com",
		filepath.Join(dir, "none"): "no credentials for github.com: $NETRC: no such file; $GH_TOKEN, $GITHUB_TOKEN: not set",
		dir:                        "no credentials for github.com: $NETRC: not read: not a regular file; $GH_TOKEN, $GITHUB_TOKEN: not set",
		wide:                       "no credentials for github.com: $NETRC: not read: in UTF-16; save it as UTF-8; $GH_TOKEN, $GITHUB_TOKEN: not set",
		large:                      "no credentials for github.com: $NETRC: not read: larger than 1 MiB; $GH_TOKEN, $GITHUB_TOKEN: not set",
		os.DevNull:                 "no credentials for github.com: $NETRC: no machine github.com or api.github.com; $GH_TOKEN, $GITHUB_TOKEN: not set",
	} {
		f := place{netrc: "machine github.com login home password home", env: map[string]string{"NETRC": path}}.finder(t)
		if got := result(f.GitHub(t.Context(), "github.com")); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", filepath.Base(path), got, want)
		}
	}
}

func TestUnreadableNetrcIsNotTheEnd(t *testing.T) {
	t.Parallel()
	f := place{netrc: "-", env: map[string]string{"NETRC": t.TempDir()}, gh: gh("g", nil)}.finder(t)
	if got, want := result(f.GitHub(t.Context(), "github.com")), ":g from gh auth token"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoHome(t *testing.T) {
	t.Parallel()
	f := credential.Finder{Getenv: func(string) string { return "" }}
	_, err := f.GitHub(t.Context(), "github.com")
	if want := "no credentials for github.com: ~/.netrc: no home directory; $GH_TOKEN, $GITHUB_TOKEN: not set"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	f := place{netrc: "-"}.finder(t)
	_, err := f.GitHub(t.Context(), "github.com")
	if missing, ok := errors.AsType[*credential.MissingError](err); !ok || len(missing.Tried) != 2 || strings.Contains(err.Error(), f.Home) {
		t.Fatalf("got %v, want a MissingError with two places and no path of home", err)
	}
	if err := os.WriteFile(filepath.Join(f.Home, ".netrc"), []byte("machine github.com login u password p"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := result(f.GitHub(t.Context(), "github.com")), "u:p from ~/.netrc machine github.com"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGHIsAskedForTheHost(t *testing.T) {
	t.Parallel()
	var asked string
	f := place{netrc: "-", gh: func(_ context.Context, host string) (string, error) {
		asked = host
		return "g", nil
	}}.finder(t)
	if _, err := f.GitHub(t.Context(), "GHE.example.com"); err != nil || asked != "ghe.example.com" {
		t.Errorf("asked for %q, error %v", asked, err)
	}
}

// hang returns a gh that waits for something that does not come.
func hang(ctx context.Context, _ string) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func TestGHIsLimitedInTime(t *testing.T) {
	t.Parallel()
	f := place{netrc: "-", gh: hang}.finder(t)
	synctest.Test(t, func(t *testing.T) {
		want := "no credentials for github.com: ~/.netrc: no such file; $GH_TOKEN, $GITHUB_TOKEN: not set; gh: no answer in time"
		if got := result(f.GitHub(t.Context(), "github.com")); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestCancelledIsNotMissing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := place{netrc: "-", gh: hang}.finder(t)
	if _, err := f.GitHub(ctx, "github.com"); !errors.Is(err, context.Canceled) {
		t.Errorf("GitHub: got %v, want context.Canceled", err)
	}
	if _, err := f.Jira(ctx, []string{"a"}, true); !errors.Is(err, context.Canceled) {
		t.Errorf("Jira: got %v, want context.Canceled", err)
	}
}
