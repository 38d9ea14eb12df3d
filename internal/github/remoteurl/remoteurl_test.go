package remoteurl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/github/remoteurl"
)

func TestParseRemote(t *testing.T) {
	t.Parallel()
	known := func(host string) bool { return host == "code.example.com" }
	for url, want := range map[string]string{
		"https://github.com/o/r":                       "github.com o r",
		"https://github.com/o/r.git":                   "github.com o r",
		"https://github.com/o/r/":                      "github.com o r",
		"https://github.com/o/r.git/":                  "github.com o r",
		"http://github.com/o/r":                        "github.com o r",
		"HTTPS://GitHub.COM/O/R":                       "github.com O R",
		"  https://github.com/o/r\n":                   "github.com o r",
		"https://github.com./o/r":                      "github.com o r",
		"https://github.com:443/o/r.git":               "github.com o r",
		"https://user@github.com/o/r":                  "github.com o r",
		"https://user:tok%en@github.com/o/r":           "github.com o r",
		"https://user:p@ss@github.com/o/r.git":         "github.com o r",
		"https://x-access-token:t@www.github.com/o/r":  "github.com o r",
		"https://github.com/o/r/tree/main/x":           "github.com o r",
		"https://github.com/o/r/pull/7?diff=split#top": "github.com o r",
		"https://github.com/o/r?x=1":                   "github.com o r",
		"https://github.com//o//r":                     "github.com o r",
		"https://github.com/o/next.js":                 "github.com o next.js",
		"https://github.com/o/o.github.io.git":         "github.com o o.github.io",
		"https://github.com/o/.github":                 "github.com o .github",
		"https://github.com/o/r.git.git":               "github.com o r.git",
		"https://github.com/o_corp/a-b_c.d":            "github.com o_corp a-b_c.d",
		"git://github.com/o/r.git":                     "github.com o r",
		"ssh://git@github.com/o/r.git":                 "github.com o r",
		"ssh://git@github.com:22/o/r.git":              "github.com o r",
		"ssh://git@ssh.github.com:443/o/r.git":         "github.com o r",
		"git+ssh://git@github.com/o/r":                 "github.com o r",
		"ssh://git@github.com-work/o/r":                "github.com o r",
		"git@github.com:o/r.git":                       "github.com o r",
		"git@github.com:/o/r":                          "github.com o r",
		"git@GITHUB.com:o/r":                           "github.com o r",
		"github.com:o/r":                               "github.com o r",
		"org-123@github.com:o/r.git":                   "github.com o r",
		"git@ssh.github.com:o/r.git":                   "github.com o r",
		"git@github.com-work:o/r":                      "github.com o r",
		"git@github.com-my.org:o/r":                    "github.com o r",
		"[git@ssh.github.com:443]:o/r.git":             "github.com o r",
		"git@[github.com]:o/r.git":                     "github.com o r",

		"https://github.example.com/o/r":        "github.example.com o r",
		"git@github-enterprise.corp.net:o/r":    "github-enterprise.corp.net o r",
		"git@ghe.corp.net:o/r":                  "ghe.corp.net o r",
		"ssh://git@ghe.corp.net:2222/o/r":       "ghe.corp.net o r",
		"https://ghe.corp.net:8443/o/r":         "ghe.corp.net o r",
		"https://acme.ghe.com/o/r":              "acme.ghe.com o r",
		"git@acme.ghe.com:o/r.git":              "acme.ghe.com o r",
		"https://code.example.com/o/r":          "code.example.com o r",
		"https://Code.Example.com/o/r":          "code.example.com o r",
		"https://me:tok@github.example.com/o/r": "github.example.com o r",

		"":                            "not a URL",
		"/srv/git/o/r.git":            "not a URL",
		"../o/r":                      "not a URL",
		"./github.com:o/r":            "not a URL",
		"/x/github.com:o/r":           "not a URL",
		"https://":                    "not a URL",
		"https:///o/r":                "not a URL",
		"ssh://git@github.com:o/r":    "not a URL", // git does not take it either
		"[git@github.com:o/r":         "not a URL",
		":o/r":                        "not a URL",
		"file:///srv/github.com/o/r":  "not a URL",
		"file://github.com/o/r":       "scheme",
		"ftp://github.com/o/r":        "scheme",
		"ext::sh -c x github.com/o/r": "not a GitHub host",
		"https://notgithub.com/o/r":   "not a GitHub host",
		"https://gitlab.com/mirrors/github.com/o/r": "not a GitHub host",
		"git@gitlab.com:github.com/o/r":             "not a GitHub host",
		"https://evil.example/github.com/o/r":       "not a GitHub host",
		"https://gist.github.com/o/0123abcd":        "not a GitHub host",
		"https://github/o/r":                        "not a GitHub host",
		"https://a.b.ghe.com/o/r":                   "not a GitHub host",
		"https://git hub.com/o/r":                   "not a GitHub host",
		"https://github..com/o/r":                   "not a GitHub host",
		"C:/github.com/o/r":                         "not a GitHub host",
		`C:\git\o\r`:                                "not a GitHub host",
		"https://github.com":                        "owner/name",
		"https://github.com/":                       "owner/name",
		"https://github.com/o":                      "owner/name",
		"https://github.com/o/":                     "owner/name",
		"https://github.com/o/.git":                 "owner/name",
		"https://github.com/../r":                   "owner/name",
		"https://github.com/o/..":                   "owner/name",
		"https://github.com/o/r%2f..":               "owner/name",
		"https://github.com/o/r x":                  "owner/name",
		"git@github.com:r.git":                      "owner/name",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			repo, err := remoteurl.ParseRemote(url, known)
			got := repo.Host + " " + repo.Owner + " " + repo.Name
			if err != nil {
				if repo != (remoteurl.Repo{}) {
					t.Errorf("got %v beside the error", repo)
				}
				got = err.Error()
				if !strings.Contains(got, want) {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				return
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestParseRemoteErrorsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://me:hunter2@gitlab.com/o/r":         "https://gitlab.com/…",
		"https://hunter2@gitlab.com/o/r":            "https://gitlab.com/…",
		"https://me:hunter2/x@github.com/o/r":       "https://…",
		"https://me:hunter2@x@gitlab.com/o/r":       "https://gitlab.com/…",
		"https://gitlab.com/o/r?private=hunter2":    "https://gitlab.com/…",
		"https://gitlab.com/o/r#hunter2":            "https://gitlab.com/…",
		"oauth:hunter2@gitlab.com:o/r":              "gitlab.com:…",
		"https://me:hunter2@gitlab.com/o/r?a@b#c@d": "https://gitlab.com/…",
		"hunter2@https://gitlab.com/o/r":            "https:…",
		"git@gitlab.com:o/r":                        "git@gitlab.com:…",
		"https://gitlab.com:hunter2/o/r":            "https://…",
		"http://a:hunter2%40github.com/o/r":         "http://…",
		"https://gitlab.com/hunter2@x/o/r":          "https://…",
		"https://dl.example.com/hunter2/o/r.git":    "https://dl.example.com/…",
		"https://gist.github.com/hunter2.git":       "https://gist.github.com/…",
		"git@example.com:hunter2/o/r":               "git@example.com:…",
		"https://github.com/o":                      "https://github.com/o",
		"https://gitlab.com/":                       "https://gitlab.com/",
		"git@github.com:o":                          "git@github.com:o",
		"/srv/git/o/r.git":                          "/srv/git/o/r.git",
		"ext::sh -c hunter2":                        "ext::…",
		"hunter2 hunter2":                           "…",
		`\\h\hunter2`:                               `\\h\…`,
		`\\h\s\hunter2`:                             `\\h\…`,
		"//h/hunter2":                               "//h/…",
		`/\h\hunter2`:                               `/\h\…`,
		`\\h`:                                       `\\h`,
		`\\hun ter2\x`:                              "…",
		`C:\src\r`:                                  `C:\src\r`,
		`\\me:hunter2\o\r`:                          "…",
		"://hunter2@":                               "://…",
		"ssh://git@gitlab.com:22/o/r":               "ssh://git@gitlab.com:22/…",
	} {
		_, err := remoteurl.ParseRemote(url, nil)
		var e *remoteurl.RemoteError
		if !errors.As(err, &e) {
			t.Errorf("%s: got error %v", url, err)
			continue
		}
		if e.URL != want || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %s in it", url, err, want)
		}
	}
}

func TestRemoteLogin(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://github.com/o/r":                         " ",
		"https://github.com:8443/o/r":                    " ",
		"git@github.com:o/r":                             " ",
		"ssh://git@github.com/o/r":                       "git ",
		"https://me@github.com/o/r":                      "me ",
		"https://me:hunter2@github.com/o/r":              "me hunter2",
		"https://me:hunter%202@github.com/o/r":           "me hunter 2",
		"https://github.com:hunter2/o/r":                 "github.com hunter2",
		"http://a:hunter2%40github.com/o/r":              "a hunter2",
		"https://me:hunter2/x@github.com/o/r":            "me hunter2/x",
		"https://ghp_012345678901234567890@github.com/x": " ghp_012345678901234567890",
	} {
		login, password := remoteurl.RemoteLogin(url)
		if got := login + " " + password; got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}

func TestParseFullName(t *testing.T) {
	t.Parallel()
	if owner, name, err := remoteurl.ParseFullName("o/next.js"); err != nil || owner != "o" || name != "next.js" {
		t.Errorf("got %q, %q, %v", owner, name, err)
	}
	for _, bad := range []string{"", "o", "o/", "/r", "o/r/x", "o/..", "../r", "o/r?x", "https://github.com/o/r", "o/r\n"} {
		if _, _, err := remoteurl.ParseFullName(bad); err == nil || !strings.Contains(err.Error(), "use owner/name") {
			t.Errorf("%q: got error %v", bad, err)
		}
	}
}

func TestAPIBase(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ host, override, want string }{
		{"github.com", "", "https://api.github.com"},
		{"acme.ghe.com", "", "https://api.acme.ghe.com"},
		{"ghe.corp.net", "", "https://ghe.corp.net/api/v3"},
		{"code.example.com", "", "https://code.example.com/api/v3"},
		{"github.com", "https://proxy.corp.net/github/", "https://proxy.corp.net/github"},
		{"github.com", "http://127.0.0.1:8080", "http://127.0.0.1:8080"},
		{"github.com", "http://[::1]:8080/api/v3", "http://[::1]:8080/api/v3"},
		{"github.com", "http://localhost:1", "http://localhost:1"},
		{"github.com", "http://proxy.corp.net", "error: it must "},
		{"github.com", "http://localhost.evil.example", "error: it must "},
		{"github.com", "ftp://127.0.0.1", "error: it must "},
		{"github.com", "https://me:hunter2@proxy.corp.net", "error: it must "},
		{"github.com", "https://h/?token=hunter2", "error: it must "},
		{"github.com", "h", "error: it must "},
		{"github.com", "https://", "error: it must "},
		{"github.com", "https://me:hunter2@bad%zz/", "error: it must "},
		{"a/b", "", "error: not a host name"},
		{"me:hunter2@host", "", "error: not a host name"},
	} {
		u, err := remoteurl.APIBase(tt.host, tt.override)
		want, fails := strings.CutPrefix(tt.want, "error: ")
		switch {
		case fails && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%+v: got error %v", tt, err)
		case !fails && (err != nil || u.String() != want):
			t.Errorf("%+v: got %v, %v", tt, u, err)
		}
	}
}

func FuzzParseRemote(f *testing.F) {
	for _, s := range []string{
		"https://github.com/o/r.git", "git@github.com:o/r", "ssh://git@ssh.github.com:443/o/r", "[git@ghe.x.y:22]:o/r",
		"https://u:p@github.com/o/.github?x#y", "git@github.com-work:/o/r", "C:\\o\\r", "https://acme.ghe.com//o/r/pull/1",
	} {
		f.Add(s)
	}
	const secret = "hunter2hunter2"
	f.Fuzz(func(t *testing.T, s string) {
		repo, err := remoteurl.ParseRemote(s, nil)
		if err == nil {
			for _, part := range []string{repo.Owner, repo.Name} {
				if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "/\\?#%@: \n\x00") {
					t.Errorf("%q gives %q", s, repo)
				}
			}
			if strings.ContainsAny(repo.Host, "/\\?#%@: \n\x00") || repo.Host != strings.ToLower(repo.Host) {
				t.Errorf("%q gives host %q", s, repo.Host)
			}
			if _, err := remoteurl.APIBase(repo.Host, ""); err != nil {
				t.Errorf("%q: %v", s, err)
			}
			for _, form := range []string{"https://" + repo.Host + "/" + repo.String() + ".git", "git@" + repo.Host + ":" + repo.String() + ".git"} {
				if again, err := remoteurl.ParseRemote(form, nil); err != nil || again != repo {
					t.Errorf("%q gives %v, and that as %q gives %v, %v", s, repo, form, again, err)
				}
			}
		}
		for _, prefix := range []string{"https://me:" + secret + "@", secret + "@", "ssh://" + secret + ":x@", "https://gitlab.com/x?" + secret, "https://" + secret + "@x/?"} {
			if _, err := remoteurl.ParseRemote(prefix+s, nil); err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the secret is in %v", err)
			}
		}
	})
}
