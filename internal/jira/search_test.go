package jira_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/jira/jiratest"
	"github.com/copse-dev/copse/internal/remote"
)

func keys(p jira.Page) string {
	var out []string
	for _, i := range p.Issues {
		out = append(out, i.Key)
	}
	return strings.Join(out, " ")
}

func total(p jira.Page) string {
	if p.Total == nil {
		return "unknown"
	}
	return fmt.Sprint(*p.Total)
}

func TestSearch(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		query jira.Query
		jql   string
		keys  string
	}{
		"project": {
			jira.Query{Project: "PROJ"},
			`project = "PROJ" ORDER BY updated DESC`, "PROJ-3 PROJ-2 PROJ-1 PROJ-4 PROJ-5",
		},
		"status": {
			jira.Query{Project: "proj", Status: "to do"},
			`project = "proj" AND status = "to do" ORDER BY updated DESC`, "PROJ-2 PROJ-4 PROJ-5",
		},
		"me": {
			jira.Query{Project: "PROJ", Assignee: "me"},
			`project = "PROJ" AND assignee = currentUser() ORDER BY updated DESC`, "PROJ-1 PROJ-4",
		},
		"status and me": {
			jira.Query{Project: "PROJ", Status: "To Do", Assignee: "me"},
			`project = "PROJ" AND status = "To Do" AND assignee = currentUser() ORDER BY updated DESC`, "PROJ-4",
		},
		"quotes": {
			jira.Query{Project: "PROJ", Status: `Won't "do" \ never`, Assignee: `Bob "Bobby" O'Neil \ Sons`},
			`project = "PROJ" AND status = "Won't \"do\" \\ never" AND assignee = "Bob \"Bobby\" O'Neil \\ Sons" ORDER BY updated DESC`, "PROJ-3",
		},
		"none": {jira.Query{Project: "OTHER", Assignee: "u-bob"}, `project = "OTHER" AND assignee = "u-bob" ORDER BY updated DESC`, ""},
	}
	for name, tt := range tests {
		for _, cloud := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/cloud=%t", name, cloud), func(t *testing.T) {
				t.Parallel()
				fake, client := jiraOf(t, fixture(t, cloud))
				page, err := client.Search(t.Context(), tt.query, 50, "")
				if err != nil {
					t.Fatal(err)
				}
				if got := keys(page); got != tt.keys {
					t.Errorf("found %s, want %s", got, tt.keys)
				}
				if page.Issues == nil {
					t.Error("Issues is nil, which is null in JSON")
				}
				if got, want := total(page), fmt.Sprint(len(page.Issues)); got != want || page.Next != "" {
					t.Errorf("total %s, next %q; want %s and no next", got, page.Next, want)
				}
				if !page.AsOf.Equal(asOf) {
					t.Errorf("AsOf = %v, want %v", page.AsOf, asOf)
				}
				var sent struct{ JQL string }
				if err := json.Unmarshal([]byte(fake.Requests()[1].Body), &sent); err != nil || sent.JQL != tt.jql {
					t.Errorf("sent %s (%v), want %s", sent.JQL, err, tt.jql)
				}
			})
		}
	}
}

// TestSearchIssues holds the issues of a search against those asked for one by
// one: they are the same, descriptions too.
func TestSearchIssues(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{true, false} {
		_, client := jiraOf(t, fixture(t, cloud))
		page, err := client.Search(t.Context(), jira.Query{Project: "PROJ"}, 50, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range page.Issues {
			want, err := client.Issue(t.Context(), got.Key)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("cloud=%t (-want +got):\n%s", cloud, diff)
			}
		}
	}
}

// many returns a project of n issues, from the newest, MANY-1, on.
func many(t *testing.T, cloud bool, n, pageSize int) jiratest.Fixture {
	f := fixture(t, cloud)
	f.MaxResults = pageSize
	f.Issues = nil
	for i := range n {
		f.Issues = append(f.Issues, jiratest.Issue{Key: fmt.Sprintf("MANY-%d", i+1), Status: "To Do"})
	}
	return f
}

func TestPages(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		n, pageSize, limit int
		requests           int      // in all
		sizes              []int    // of the pages
		totals             []string // of Cloud's; Data Center always knows
	}{
		"one page":                {n: 7, pageSize: 100, limit: 10, requests: 1, sizes: []int{7}, totals: []string{"7"}},
		"exactly one":             {n: 10, pageSize: 100, limit: 10, requests: 1, sizes: []int{10}, totals: []string{"10"}},
		"three pages":             {n: 25, pageSize: 100, limit: 10, requests: 3, sizes: []int{10, 10, 5}, totals: []string{"unknown", "unknown", "unknown"}},
		"the server gives fewer":  {n: 25, pageSize: 4, limit: 10, requests: 8, sizes: []int{10, 10, 5}, totals: []string{"unknown", "unknown", "unknown"}},
		"more than a page allows": {n: 230, pageSize: 100, limit: 500, requests: 3, sizes: []int{230}, totals: []string{"230"}},
		"too many requests":       {n: 50, pageSize: 2, limit: 50, requests: 25, sizes: []int{40, 10}, totals: []string{"unknown", "unknown"}},
	}
	for name, tt := range tests {
		for _, cloud := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/cloud=%t", name, cloud), func(t *testing.T) {
				t.Parallel()
				fake, client := jiraOf(t, many(t, cloud, tt.n, tt.pageSize))
				var sizes []int
				var totals []string
				cursor, next := "", 1
				for {
					page, err := client.Search(t.Context(), jira.Query{Project: "MANY"}, tt.limit, cursor)
					if err != nil {
						t.Fatal(err)
					}
					for _, i := range page.Issues {
						if want := fmt.Sprintf("MANY-%d", next); i.Key != want {
							t.Fatalf("got %s where %s comes", i.Key, want)
						}
						next++
					}
					sizes = append(sizes, len(page.Issues))
					totals = append(totals, total(page))
					if cursor = page.Next; cursor == "" {
						break
					}
				}
				if diff := cmp.Diff(tt.sizes, sizes); diff != "" {
					t.Errorf("page sizes (-want +got):\n%s", diff)
				}
				want := tt.totals
				if !cloud {
					want = nil
					for range tt.sizes {
						want = append(want, fmt.Sprint(tt.n))
					}
				}
				if diff := cmp.Diff(want, totals); diff != "" {
					t.Errorf("totals (-want +got):\n%s", diff)
				}
				if got := len(fake.Requests()) - 1; got != tt.requests { // one for the server's kind
					t.Errorf("%d requests, want %d", got, tt.requests)
				}
			})
		}
	}
}

func TestSearchArguments(t *testing.T) {
	t.Parallel()
	fake, client := jiraOf(t, fixture(t, false))
	tests := map[string]struct {
		query    jira.Query
		limit    int
		cursor   string
		argument string
	}{
		"no project":       {jira.Query{}, 5, "", "project"},
		"blank project":    {jira.Query{Project: " "}, 5, "", "project"},
		"control":          {jira.Query{Project: "P", Status: "a\nb"}, 5, "", "status"},
		"C1 control":       {jira.Query{Project: "P", Status: "a\u0085b"}, 5, "", "status"},
		"noncharacter":     {jira.Query{Project: "P\uffff"}, 5, "", "project"},
		"not UTF-8":        {jira.Query{Project: "P", Assignee: "\xff"}, 5, "", "assignee"},
		"no limit":         {jira.Query{Project: "PROJ"}, 0, "", "limit"},
		"someone's cursor": {jira.Query{Project: "PROJ"}, 5, "abc", "cursor"},
		"negative cursor":  {jira.Query{Project: "PROJ"}, 5, "-1", "cursor"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := client.Search(t.Context(), tt.query, tt.limit, tt.cursor)
			var invalid *jira.InvalidError
			if !errors.As(err, &invalid) || invalid.Argument != tt.argument {
				t.Errorf("got %v, want an InvalidError of %s", err, tt.argument)
			}
		})
	}
	for _, p := range paths(fake) {
		if !strings.HasSuffix(p, "/serverInfo") {
			t.Errorf("%s was sent", p)
		}
	}
}

// TestCursorOfAnotherQuery is what Cloud says to it.
func TestCursorOfAnotherQuery(t *testing.T) {
	t.Parallel()
	_, client := jiraOf(t, fixture(t, true))
	page, err := client.Search(t.Context(), jira.Query{Project: "PROJ"}, 2, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Search(t.Context(), jira.Query{Project: "OTHER"}, 2, page.Next)
	var invalid *jira.InvalidError
	if !errors.As(err, &invalid) || invalid.Argument != "cursor" || !strings.Contains(invalid.Message, "call again without cursor") {
		t.Errorf("got %v, want an InvalidError of cursor", err)
	}
}

// TestOddPages is about servers that page in ways of their own.
func TestOddPages(t *testing.T) {
	t.Parallel()
	issue := func(n int) string { return fmt.Sprintf(`{"key":"P-%d"}`, n) }
	tests := map[string]struct {
		deployment string
		pages      map[string]string // by token or startAt
		keys, next string
		total      string
		err        string
	}{
		"empty page in between": {
			deployment: "Cloud",
			pages: map[string]string{
				"":  `{"issues":[` + issue(1) + `],"nextPageToken":"a"}`,
				"a": `{"issues":[],"nextPageToken":"b"}`,
				"b": `{"issues":[` + issue(2) + `]}`,
			},
			keys: "P-1 P-2", total: "2",
		},
		"last but with a token": {
			deployment: "Cloud",
			pages:      map[string]string{"": `{"issues":[` + issue(1) + `],"nextPageToken":"a","isLast":true}`},
			keys:       "P-1", total: "1",
		},
		"null token and null issues": {
			deployment: "Cloud",
			pages:      map[string]string{"": `{"issues":null,"nextPageToken":null,"isLast":null}`},
			total:      "0",
		},
		"going in circles": {
			deployment: "Cloud",
			pages: map[string]string{
				"":  `{"issues":[` + issue(1) + `],"nextPageToken":"a"}`,
				"a": `{"issues":[` + issue(2) + `],"nextPageToken":"a"}`,
			},
			err: "the same page of a search twice",
		},
		"no total": {
			deployment: "Server",
			pages:      map[string]string{"0": `{"issues":[` + issue(1) + `]}`},
			keys:       "P-1", total: "1",
		},
		"a total that is too large": {
			deployment: "Server",
			pages: map[string]string{
				"0": `{"issues":[` + issue(1) + `],"total":9}`,
				"1": `{"issues":[],"total":9}`,
			},
			keys: "P-1", total: "9",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mux := http.NewServeMux()
			mux.Handle("GET /rest/api/2/serverInfo", answer(tt.deployment, ""))
			mux.HandleFunc("POST /rest/api/", func(w http.ResponseWriter, r *http.Request) {
				var in struct {
					NextPageToken string
					StartAt       *int
				}
				b, _ := io.ReadAll(r.Body)
				if err := json.Unmarshal(b, &in); err != nil {
					t.Error(err)
				}
				at := in.NextPageToken
				if in.StartAt != nil {
					at = fmt.Sprint(*in.StartAt)
				}
				io.WriteString(w, tt.pages[at])
			})
			page, err := clientOf(t, fixture(t, false), mux).Search(t.Context(), jira.Query{Project: "P"}, 5, "")
			if tt.err != "" {
				check(t, err, remote.Failed, 200, tt.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := keys(page); got != tt.keys || page.Next != tt.next || total(page) != tt.total {
				t.Errorf("got %q, next %q, total %s; want %q, %q, %s", got, page.Next, total(page), tt.keys, tt.next, tt.total)
			}
		})
	}
}
