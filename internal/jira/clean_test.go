package jira_test

import (
	"net/http"
	"testing"

	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/jira/jiratest"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/test/poison"
)

// No field of Jira's answers brings control or invisible characters into a result.
func TestEveryFieldIsClean(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{true, false} {
		fixture := detailed(t, cloud, 2)
		fake := jiratest.New(fixture)
		t.Cleanup(fake.Close)
		host := parseHost(t, "https://jira.example.com"+fixture.Path)
		poison.EachField(t, fake, func(base http.RoundTripper) []any {
			client := jira.New(jira.Options{
				Host:       host,
				Credential: credential.Credential{Login: fixture.Login, Secret: fixture.Secret, Source: source},
				Transport:  remote.NewTransport(remote.Options{Base: base, Allow: host.Allow}),
				UserAgent:  agent,
			})
			var results []any
			for _, key := range []string{"A-1", "PROJ-1"} {
				issue, err := client.Issue(t.Context(), key)
				results = append(results, issue)
				if err != nil {
					results = append(results, err.Error())
				}
			}
			page, err := client.Search(t.Context(), jira.Query{Project: "A"}, 10, "")
			results = append(results, page.Issues)
			if err != nil {
				results = append(results, err.Error())
			}
			return results
		})
	}
}
