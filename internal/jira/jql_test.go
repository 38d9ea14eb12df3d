package jira_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/jira/jiratest"
)

// inProcess answers requests without a network.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		req.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	p.handler.ServeHTTP(rec, req)
	return rec.Result(), nil
}

// FuzzJQL has the fake read what was quoted: every value comes back as it was,
// or was refused for a character that JQL does not have.
func FuzzJQL(f *testing.F) {
	f.Add("PROJ", "To Do", "me")
	f.Add(`a"b`, `\`, `\" OR project = "X`)
	f.Add("P", `" ORDER BY created`, "currentUser()")
	f.Add("P", `\\"`, `EMPTY`)
	f.Add("ÄÖ日本", "\u200b\u202e", "a\x00b")
	f.Add("P", "\xff", "\ufffe")
	f.Add("P", "'", "\u2028")
	f.Fuzz(func(t *testing.T, project, status, assignee string) {
		jql, err := jira.Query{Project: project, Status: status, Assignee: assignee}.JQL()
		if err != nil {
			var invalid *jira.InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("%v is no InvalidError", err)
			}
			refused := map[string]string{"project": project, "status": status, "assignee": assignee}[invalid.Argument]
			if strings.TrimSpace(refused) != "" && !odd(refused) {
				t.Fatalf("%q was refused: %v", refused, err)
			}
			return
		}
		got, err := jiratest.ParseJQL(jql)
		if err != nil {
			t.Fatalf("%s: %v", jql, err)
		}
		if got.Project != project || deref(got.Status) != status {
			t.Fatalf("%s was read as %+v", jql, got)
		}
		if me := assignee == "me"; got.CurrentUser != me || !me && deref(got.Assignee) != assignee {
			t.Fatalf("%s was read as %+v", jql, got)
		}
	})
}

func odd(s string) bool {
	return !utf8.ValidString(s) || strings.IndexFunc(s, func(c rune) bool {
		return unicode.Is(unicode.Cc, c) || unicode.Is(unicode.Noncharacter_Code_Point, c)
	}) >= 0
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TestMeIsExact: only "me" is the current user.
func TestMeIsExact(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"ME", "Me", " me", "me ", "currentUser()"} {
		jql, err := jira.Query{Project: "P", Assignee: who}.JQL()
		if want := `project = "P" AND assignee = "` + who + `" ORDER BY updated DESC`; err != nil || jql != want {
			t.Errorf("got %s (%v), want %s", jql, err, want)
		}
	}
}

// TestQuotingOverHTTP sends values that try to get out of their quotes.
func TestQuotingOverHTTP(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{true, false} {
		f := fixture(t, cloud)
		for _, evil := range []string{`x" OR project = "OTHER`, `x\" OR project = "OTHER`, `\`, `"`, `' OR '1'='1`, "x\u2028y"} {
			f.Issues = append(f.Issues, jiratest.Issue{Key: "EVIL-1", Status: evil})
			_, client := jiraOf(t, f)
			page, err := client.Search(t.Context(), jira.Query{Project: "EVIL", Status: evil}, 5, "")
			if err != nil || keys(page) != "EVIL-1" {
				t.Errorf("status %q: found %q, %v", evil, keys(page), err)
			}
			f.Issues = f.Issues[:len(f.Issues)-1]
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	f := fixture(b, true)
	client := jira.New(jira.Options{
		Host:       parseHost(b, "acme.atlassian.net"),
		Credential: credential.Credential{Login: login, Secret: secret},
		Transport:  inProcess{jiratest.New(f)},
	})
	for b.Loop() {
		if _, err := client.Search(b.Context(), jira.Query{Project: "PROJ"}, 50, ""); err != nil {
			b.Fatal(err)
		}
	}
}
