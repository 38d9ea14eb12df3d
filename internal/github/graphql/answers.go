package graphql

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/github/pullrequest"
)

// BatchAnswer is the answer about several branches. Its fields are stored unparsed.
type BatchAnswer struct {
	Data struct {
		Repository map[string]json.RawMessage `json:"repository"`
	} `json:"data"`
	Errors []Error `json:"errors,omitempty"`
}

// Open returns the open pull request of branch i, undecoded, nil if it was not found by name.
func (a BatchAnswer) Open(i int, h pullrequest.Head) (number int, raw json.RawMessage) {
	var found List[json.RawMessage]
	p := a.Pick(i, h)
	if p == nil || json.Unmarshal(a.Data.Repository[OpenAlias+strconv.Itoa(i)], &found) != nil {
		return 0, nil
	}
	for _, raw := range found.Nodes {
		var n struct {
			Number int `json:"number"`
		}
		if raw != nil && json.Unmarshal(*raw, &n) == nil && n.Number == p.Number {
			return p.Number, *raw
		}
	}
	return 0, nil
}

// Alias returns the prefix of the field of a batch that the error is about, if it is that
// of branch i.
func (e Error) Alias(i int) string {
	for _, prefix := range []string{OpenAlias, EndedAlias, NumberAlias} {
		if e.At(prefix + strconv.Itoa(i)) {
			return prefix
		}
	}
	return ""
}

// Answers reports whether an answer contains branch i, even with an empty list.
func (a BatchAnswer) Answers(i int) bool {
	for _, prefix := range []string{OpenAlias, NumberAlias} {
		if raw, ok := a.Data.Repository[prefix+strconv.Itoa(i)]; ok && string(raw) != "null" {
			return true
		}
	}
	return false
}

// Pick returns the pull request of branch i, nil for none.
func (a BatchAnswer) Pick(i int, h pullrequest.Head) *PullRequest {
	n := strconv.Itoa(i)
	if raw, ok := a.Data.Repository[NumberAlias+n]; ok {
		var p *PullRequest
		if json.Unmarshal(raw, &p) != nil {
			return nil
		}
		return p
	}
	ours := func(p *PullRequest) bool {
		return p != nil && !p.Cross && p.HeadRefName == h.Branch
	}
	for _, list := range []string{OpenAlias, EndedAlias} {
		var found List[PullRequest]
		if json.Unmarshal(a.Data.Repository[list+n], &found) != nil {
			continue
		}
		for _, p := range found.Nodes {
			if ours(p) && (list == OpenAlias || h.Commit != "" && p.HeadRefOID == h.Commit) {
				return p
			}
		}
	}
	return nil
}

// Address returns the address of a server's GraphQL API, next to its REST API.
func Address(api *url.URL) *url.URL {
	u := *api
	if base, ok := strings.CutSuffix(u.Path, "/api/v3"); ok {
		u.Path = base + "/api"
	}
	u.Path += "/graphql"
	return &u
}

// Question is the body of a GraphQL request.
type Question struct {
	Query     string         `json:"query"`
	Variables map[string]any `json:"variables"`
}

// Allowed reports whether r sends one of this package's own documents to the GraphQL API. GraphQL
// sends reads and writes with the same method to the same address, so only the text of the document
// distinguishes them.
func Allowed(api *url.URL, r *http.Request) bool {
	at := Address(api)
	if r.Method != http.MethodPost || r.URL.Scheme != at.Scheme || r.URL.Host != at.Host || r.URL.Path != at.Path || r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	var q Question
	if json.NewDecoder(body).Decode(&q) != nil {
		return false
	}
	for _, s := range Shapes {
		if q.Query == Document(s) {
			return true
		}
	}
	return q.Query == BatchDocument(q.Variables, true) || q.Query == BatchDocument(q.Variables, false)
}

// Error is one error of a GraphQL answer, which may come with data.
type Error struct {
	Type       string `json:"type,omitempty"`
	Message    string `json:"message"`
	Path       []any  `json:"path,omitempty"`
	Extensions struct {
		Code string `json:"code,omitempty"`
	} `json:"extensions,omitzero"`
}

// UnknownField reports whether the server's schema lacks a requested field.
func (e Error) UnknownField() bool {
	return e.Extensions.Code == "undefinedField" || strings.Contains(e.Message, "doesn't exist on type")
}

// At reports whether the error is about a field, or one below it.
func (e Error) At(field string) bool {
	for _, p := range e.Path {
		if p == field {
			return true
		}
	}
	return false
}

// Answer is the answer to the one document that there is.
type Answer struct {
	Data struct {
		Repository *struct {
			PullRequest *PullRequest `json:"pullRequest"`
		} `json:"repository"`
	} `json:"data"`
	Errors []Error `json:"errors"`

	AsOf time.Time
}

// Pull returns the pull request of the answer, nil if it has none.
func (a Answer) Pull() *PullRequest {
	if a.Data.Repository == nil {
		return nil
	}
	return a.Data.Repository.PullRequest
}
