package githubtest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/copse-dev/copse/internal/github/githubtest/graph"
)

// teamScope is GitHub's message about the names of teams, which require a token with one more
// scope.
const teamScope = "Your token has not been granted the required scopes to execute this query. " +
	"The 'slug' field requires one of the following scopes: ['read:org', 'read:discussion']."

// answerGraphQL validates and executes a document, as GitHub does: errors come with
// status 200.
func (s *Server) answerGraphQL(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fixture := s.fixture
	s.mu.Unlock()
	if fixture.RESTOnly {
		s.notFound(w, r)
		return
	}
	var q struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		s.problem(w, http.StatusBadRequest, "Problems parsing JSON", "https://docs.github.com/graphql")
		return
	}
	document, err := s.document(q.Query)
	if err != nil {
		s.send(w, http.StatusOK, object{"errors": []object{{"message": err.Error(), "extensions": object{"code": "undefinedField"}}}})
		return
	}
	for _, unknown := range fixture.UnknownFields {
		if document.Mentions(unknown) {
			s.send(w, http.StatusOK, object{"errors": []object{{
				"message":    "Field '" + unknown + "' doesn't exist on type 'PullRequest'",
				"path":       []string{"fragment core", unknown},
				"extensions": object{"code": "undefinedField", "typeName": "PullRequest", "fieldName": unknown},
			}}})
			return
		}
	}
	if fixture.NoOrgScope && document.Mentions("slug") && strings.Contains(q.Query, "Team") {
		s.send(w, http.StatusOK, object{"errors": []object{{"type": "INSUFFICIENT_SCOPES", "message": teamScope}}})
		return
	}
	data, errors := document.Execute(s.queryValue(), q.Variables, fixture.ForbiddenFields)
	answer := object{"data": data}
	if len(errors) > 0 {
		answer["errors"] = errors
	}
	s.mu.Lock()
	s.used++
	s.mu.Unlock()
	w.Header().Set("X-RateLimit-Resource", "graphql")
	s.send(w, http.StatusOK, answer)
}

// document parses and validates a document on its first occurrence.
func (s *Server) document(text string) (graph.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := s.documents[text]; ok {
		return d, nil
	}
	d, err := graph.Parse(text)
	if err == nil {
		s.documents[text] = d
	}
	return d, err
}
