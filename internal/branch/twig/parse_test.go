package twig_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/branch/twig"
)

func readFile(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func TestParse(t *testing.T) {
	t.Parallel()
	s, err := twig.Parse(readFile(t, "testdata/state.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := twig.Document{
		Version:   1,
		UpdatedAt: "2026-11-20T23:28:36.527889776Z",
		Worktrees: []twig.Worktree{{
			Name:      "hotfix-crash",
			Path:      "/src/app-worktrees/hotfix-crash",
			Branch:    "hotfix/crash",
			CreatedAt: "2026-11-20T23:29:16+00:00",
		}},
		Branches: map[string]twig.Branch{
			"feature/payments":    {Branch: "feature/payments", GitHubPR: 43, CreatedAt: "2026-11-20T23:28:36.523108391+00:00"},
			"feature/login":       {Branch: "feature/login", JiraIssue: "PROJ-101", GitHubPR: 42, CreatedAt: "2026-11-20T23:28:36+00:00"},
			"feature/login-tests": {Branch: "feature/login-tests", JiraIssue: "PROJ-102", CreatedAt: "2026-11-20T23:28:36+00:00"},
		},
		Dependencies: []twig.Dependency{
			{ID: "e4ee6266-7ea2-4e74-8b1f-f9da7a02c33c", Child: "feature/login", Parent: "main", CreatedAt: "2026-11-20T23:28:36.479000316Z"},
			{ID: "fc462a77-20b5-4d38-8d38-6e119e8e7a26", Child: "feature/login-tests", Parent: "feature/login", CreatedAt: "2026-11-20T23:28:36.484218490Z"},
			{ID: "ce246d4f-24d5-46b4-b3b7-8979871643cc", Child: "feature/payments", Parent: "main", CreatedAt: "2026-11-20T23:28:36.489345823Z"},
			{ID: "7cd0aaab-9309-44e9-ab1f-ea066d6998d3", Child: "feature/payments", Parent: "feature/login", CreatedAt: "2026-11-20T23:28:36.494361022Z"},
		},
		Roots: []twig.Root{
			{ID: "f7e59e6b-d0c8-4e8a-942a-4c61bde31c68", Branch: "main", IsDefault: true, CreatedAt: "2026-11-20T23:28:36.468797494Z"},
			{ID: "4d7fd0a2-20ee-4537-adeb-d3966cab7ac9", Branch: "develop", CreatedAt: "2026-11-20T23:28:36.473937636Z"},
		},
	}
	if diff := cmp.Diff(want, s.Document); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if parent, _ := s.Parent("feature/payments"); parent != "main" {
		t.Errorf("parent of feature/payments: %q, want the first dependency's, main", parent)
	}
}

// parts are the six members of an empty state file.
var parts = []string{
	`"version":1`, `"updated_at":"2026-11-20T23:28:36Z"`, `"worktrees":[]`,
	`"branches":{}`, `"dependencies":[]`, `"root_branches":[]`,
}

// stateWith returns an empty state file whose member of the same name is replaced.
func stateWith(member string) string {
	members := make([]string, len(parts))
	name, _, _ := strings.Cut(member, ":")
	for i, p := range parts {
		members[i] = p
		if strings.HasPrefix(p, name+":") {
			members[i] = member
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestParseAccepts(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, data string }{
		{"empty state", stateWith("")},
		{"any version", stateWith(`"version":99`)},
		{"version 0", stateWith(`"version":0`)},
		{"a space in the time", stateWith(`"updated_at":"2026-11-20 23:28:36Z"`)},
		{"another offset", stateWith(`"updated_at":"2026-11-20T23:28:36+05:30"`)},
		{"unknown members", stateWith(`"version":1,"x":[{}],"y":null`)},
		{"absent links", stateWith(`"branches":{"a":{"branch":"a","created_at":"t"}}`)},
		{"null links", stateWith(`"branches":{"a":{"branch":"a","jira_issue":null,"github_pr":null,"created_at":"t","z":1}}`)},
		{"largest number", stateWith(`"branches":{"a":{"branch":"a","github_pr":4294967295,"created_at":"t"}}`)},
		{"spaces around", " \n" + stateWith("") + "\r\n\t"},
		// Beyond twig: ids and times are not looked into.
		{"id that is no UUID", stateWith(`"root_branches":[{"id":"1","branch":"main","is_default":true,"created_at":""}]`)},
		{"date without a time", stateWith(`"updated_at":"2026-11-20"`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := twig.Parse([]byte(tt.data)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseTakesTheLastOfABranch(t *testing.T) {
	t.Parallel()
	s, err := twig.Parse([]byte(stateWith(`"branches":{
		"a":{"branch":"a","jira_issue":"P-1","github_pr":7,"created_at":"t"},
		"a":{"branch":"a","jira_issue":null,"created_at":"u"}}`)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(twig.Metadata{Branch: "a", CreatedAt: "u"}, s.Metadata("a")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	dependency := `{"id":"i","child":"c","parent":"p","created_at":"t"}`
	tests := []struct{ name, data, want string }{
		{"empty file", "", "the file is empty"},
		{"truncated", stateWith("")[:30], "line 1, column 30: unexpected end of JSON input"},
		{"empty object", "{}", "version: missing or null"},
		{"array", "[]", "the file: expected an object, got an array (line "},
		{"byte order mark", "\uFEFF" + stateWith(""), "the file begins with a byte order mark; save it as UTF-8 without one"},
		{"not UTF-8", stateWith("\"updated_at\":\"\xff\""), "line 1, column 28: not UTF-8 text"},
		{"trailing garbage", stateWith("") + "}", "line 1, column 116: invalid character '}' after top-level value"},
		{"member in another case", strings.Replace(stateWith(""), "version", "Version", 1), "version: missing or null"},
		{"no time", stateWith(`"updated_at":null`), "updated_at: missing or null"},
		{"no worktrees", strings.Replace(stateWith(""), "worktrees", "w", 1), "worktrees: missing or null"},
		{"no branches", stateWith(`"branches":null`), "branches: missing or null"},
		{"no dependencies", strings.Replace(stateWith(""), "dependencies", "d", 1), "dependencies: missing or null"},
		{"no roots", strings.Replace(stateWith(""), "root_branches", "r", 1), "root_branches: missing or null"},
		{"version below zero", stateWith(`"version":-1`), "version: expected a whole number from 0 to 4294967295, got -1 (line "},
		{"version as text", stateWith(`"version":"1"`), "version: expected a whole number from 0 to 4294967295, got a string (line "},
		{"branches as a list", stateWith(`"branches":[]`), "branches: expected an object, got an array (line "},
		{"pull request below zero", stateWith(`"branches":{"feature/x":{"branch":"feature/x","github_pr":-1,"created_at":"t"}}`),
			`branches["feature/x"].github_pr: expected a whole number from 0 to 4294967295, got -1 (line `},
		{"pull request too high", stateWith(`"branches":{"a":{"branch":"a","github_pr":4294967296,"created_at":"t"}}`),
			`branches.a.github_pr: expected a whole number from 0 to 4294967295, got 4294967296 (line `},
		{"pull request with a fraction", stateWith(`"branches":{"a":{"branch":"a","github_pr":1.5,"created_at":"t"}}`),
			`branches.a.github_pr: expected a whole number from 0 to 4294967295, got 1.5 (line `},
		{"pull request as text", stateWith(`"branches":{"a":{"branch":"a","github_pr":"1","created_at":"t"}}`),
			`branches.a.github_pr: expected a whole number from 0 to 4294967295, got a string (line `},
		{"issue as a number", stateWith(`"branches":{"a":{"branch":"a","jira_issue":5,"created_at":"t"}}`),
			`branches.a.jira_issue: expected a string, got a number (line `},
		{"branch without name", stateWith(`"branches":{"b":{},"a b":{"created_at":"t"}}`), `branches["a b"].branch: missing or null`},
		{"branch without time", stateWith(`"branches":{"a":{"branch":"a"}}`), "branches.a.created_at: missing or null"},
		{"branch that is null", stateWith(`"branches":{"a":null}`), "branches.a.branch: missing or null"},
		{"worktree without path", stateWith(`"worktrees":[{"name":"n","branch":"b","created_at":"t"}]`), "worktrees[0].path: missing or null"},
		{"dependency without child", stateWith(`"dependencies":[` + strings.Repeat(dependency+",", 3) + `{"id":"i","parent":"p","created_at":"t"}]`),
			"dependencies[3].child: missing or null"},
		{"dependency with a null parent", stateWith(`"dependencies":[` + dependency + `,{"id":"i","child":"c","parent":null,"created_at":"t"}]`),
			"dependencies[1].parent: missing or null"},
		{"dependency without id", stateWith(`"dependencies":[{"child":"c","parent":"p","created_at":"t"}]`), "dependencies[0].id: missing or null"},
		{"dependency that is null", stateWith(`"dependencies":[null]`), "dependencies[0].id: missing or null"},
		{"child as a number", stateWith(`"dependencies":[` + dependency + `,{"id":"i","child":5,"parent":"p"}]`),
			"dependencies[1].child: expected a string, got a number (line "},
		{"root without flag", stateWith(`"root_branches":[{"id":"i","branch":"main","created_at":"t"}]`), "root_branches[0].is_default: missing or null"},
		{"root flag as a number", stateWith(`"root_branches":[{"id":"i","branch":"main","is_default":1,"created_at":"t"}]`),
			"root_branches[0].is_default: expected true or false, got a number (line "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := twig.Parse([]byte(tt.data))
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
}

// Nothing makes Parse panic, and what it accepts has consistent lookups.
func FuzzParse(f *testing.F) {
	f.Add(readFile(f, "testdata/state.json"))
	f.Add([]byte(stateWith("")))
	f.Add([]byte(stateWith(`"branches":{"a":null}`)))
	f.Add([]byte(stateWith(`"dependencies":[{"id":"","child":"a","parent":"a","created_at":""}]`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := twig.Parse(data)
		if (s == nil) == (err == nil) {
			t.Fatalf("state %v with error %v", s, err)
		}
		if err != nil {
			return
		}
		for _, d := range s.Dependencies {
			if !s.Known(d.Child) || !s.Known(d.Parent) || len(s.Parents(d.Child)) == 0 || len(s.Children(d.Parent)) == 0 {
				t.Fatalf("dependency %+v is not indexed", d)
			}
		}
		for name := range s.Branches {
			if !s.Known(name) {
				t.Fatalf("branch %q is not known", name)
			}
		}
	})
}

// bigState returns a state file of n linked branches and n dependencies.
func bigState(n int) []byte {
	var b strings.Builder
	b.WriteString("{\n  \"version\": 1,\n  \"updated_at\": \"2026-11-20T23:28:36.527889776Z\",\n  \"worktrees\": [],\n  \"branches\": {")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n    \"feature/branch-%05d\": {\n      \"branch\": \"feature/branch-%05d\",\n      \"jira_issue\": \"PROJ-%d\",\n      \"github_pr\": %d,\n      \"created_at\": \"2026-11-20T23:28:36.523108391+00:00\"\n    }", i, i, i, i)
	}
	b.WriteString("\n  },\n  \"dependencies\": [")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		parent := "main"
		if i%8 != 0 {
			parent = fmt.Sprintf("feature/branch-%05d", i-1)
		}
		fmt.Fprintf(&b, "\n    {\n      \"id\": \"e4ee6266-7ea2-4e74-8b1f-f9da7a%06x\",\n      \"child\": \"feature/branch-%05d\",\n      \"parent\": %q,\n      \"created_at\": \"2026-11-20T23:28:36.479000316Z\"\n    }", i, i, parent)
	}
	b.WriteString("\n  ],\n  \"root_branches\": [\n    {\n      \"id\": \"f7e59e6b-d0c8-4e8a-942a-4c61bde31c68\",\n      \"branch\": \"main\",\n      \"is_default\": true,\n      \"created_at\": \"2026-11-20T23:28:36.468797494Z\"\n    }\n  ]\n}")
	return []byte(b.String())
}

// The limit on values leaves room for the largest repository that copse promises to serve.
func TestParseManyBranches(t *testing.T) {
	t.Parallel()
	s, err := twig.Parse(bigState(100_000))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Branches) != 100_000 {
		t.Errorf("got %d branches", len(s.Branches))
	}
}

func BenchmarkParse(b *testing.B) {
	data := bigState(10_000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := twig.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}
