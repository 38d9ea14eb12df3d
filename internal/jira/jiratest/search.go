package jiratest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// badPayload is Cloud's answer to a body with unknown members, such as the startAt of its former
// search.
const badPayload = "Invalid request payload. Refer to the REST API documentation and try again."

// searchByToken is the search of Cloud.
func (s *Server) searchByToken(w http.ResponseWriter, r *http.Request) {
	ok, _ := s.admitted(w, r)
	var in struct {
		JQL           string   `json:"jql"`
		MaxResults    *int     `json:"maxResults"`
		Fields        []string `json:"fields"`
		NextPageToken *string  `json:"nextPageToken"`
		Expand        string   `json:"expand"`
		Properties    []string `json:"properties"`
		FieldsByKeys  bool     `json:"fieldsByKeys"`
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if dec.Decode(&in) != nil {
		s.problem(w, http.StatusBadRequest, badPayload)
		return
	}
	found, problems := s.find(in.JQL)
	if problems != nil {
		s.problem(w, http.StatusBadRequest, problems...)
		return
	}
	if !ok {
		found = nil
	}
	start := 0
	if in.NextPageToken != nil {
		var valid bool
		if start, valid = tokenStart(*in.NextPageToken, in.JQL); !valid {
			s.problem(w, http.StatusBadRequest, badPayload)
			return
		}
	}
	start = min(start, len(found))
	end := min(start+s.limit(in.MaxResults), len(found))
	issues := []any{}
	for _, issue := range found[start:end] {
		issues = append(issues, s.render(r, issue, 3, in.Fields))
	}
	out := map[string]any{"issues": issues, "isLast": end == len(found)}
	if end < len(found) {
		out["nextPageToken"] = token(end, in.JQL)
	}
	s.send(w, http.StatusOK, out)
}

// searchByOffset is the search of Data Center.
func (s *Server) searchByOffset(w http.ResponseWriter, r *http.Request) {
	ok, answered := s.admitted(w, r)
	if answered {
		return
	}
	var in struct {
		JQL        string   `json:"jql"`
		StartAt    int      `json:"startAt"`
		MaxResults *int     `json:"maxResults"`
		Fields     []string `json:"fields"`
	}
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &in); err != nil {
		s.problem(w, http.StatusBadRequest, "Unexpected character in the body")
		return
	}
	found, problems := s.find(in.JQL)
	if problems != nil {
		s.problem(w, http.StatusBadRequest, problems...)
		return
	}
	if !ok {
		found = nil
	}
	start := min(max(in.StartAt, 0), len(found))
	limit := s.limit(in.MaxResults)
	issues := []any{}
	for _, issue := range found[start:min(start+limit, len(found))] {
		issues = append(issues, s.render(r, issue, 2, in.Fields))
	}
	s.send(w, http.StatusOK, map[string]any{
		"expand": "names,schema", "startAt": in.StartAt, "maxResults": limit, "total": len(found), "issues": issues,
	})
}

func (s *Server) limit(asked *int) int {
	if asked == nil {
		return min(50, s.fixture.MaxResults)
	}
	return min(max(*asked, 0), s.fixture.MaxResults)
}

// token returns the position of a page in the results of a query. It is valid for that query only.
func token(start int, jql string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", start, jql))
}

func tokenStart(token, jql string) (int, bool) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	number, of, _ := strings.Cut(string(b), " ")
	start, nerr := strconv.Atoi(number)
	return start, err == nil && nerr == nil && start >= 0 && of == jql
}

// find returns the issues that match a query, or an error.
func (s *Server) find(jql string) (found []Issue, problems []string) {
	q, err := ParseJQL(jql)
	if err != nil {
		return nil, []string{err.Error()}
	}
	unknown := func(field, value string) {
		problems = append(problems, fmt.Sprintf("The value '%s' does not exist for the field '%s'.", value, field))
	}
	if !slices.ContainsFunc(s.fixture.Issues, func(i Issue) bool { return strings.EqualFold(i.project(), q.Project) }) {
		unknown("project", q.Project)
	}
	if q.Status != nil && !slices.ContainsFunc(s.fixture.Issues, func(i Issue) bool { return strings.EqualFold(i.Status, *q.Status) }) {
		unknown("status", *q.Status)
	}
	assignee := s.fixture.Me
	if q.Assignee != nil {
		i := slices.IndexFunc(s.fixture.Users, func(u User) bool {
			return strings.EqualFold(u.Name, *q.Assignee) || strings.EqualFold(u.DisplayName, *q.Assignee)
		})
		if i < 0 {
			unknown("assignee", *q.Assignee)
		} else {
			assignee = s.fixture.Users[i].Name
		}
	}
	if problems != nil {
		return nil, problems
	}
	for _, i := range s.fixture.Issues {
		switch {
		case !strings.EqualFold(i.project(), q.Project),
			q.Status != nil && !strings.EqualFold(i.Status, *q.Status),
			(q.CurrentUser || q.Assignee != nil) && i.Assignee != assignee:
		default:
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b Issue) int { return b.Updated.Compare(a.Updated) })
	return found, nil
}
