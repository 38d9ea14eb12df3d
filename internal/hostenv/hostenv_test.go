package hostenv_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/hostenv"
)

// A reference that a client could not resolve is not a token.
func TestResolved(t *testing.T) {
	t.Parallel()
	given := []string{
		"GH_TOKEN=${GH_TOKEN}", "JIRA_TOKEN=$JIRA_TOKEN", "GITHUB_TOKEN=", "JIRA_HOST={env:JIRA_HOST}", "JIRA_PAT=${env:JIRA_PAT}",
		"NETRC=${HOME}/n", "GH_HOST=$JIRA_HOST", "EMPTY=", "X=$X", "JIRA_EMAIL=a@b",
	}
	want := []string{"NETRC=${HOME}/n", "GH_HOST=$JIRA_HOST", "EMPTY=", "X=$X", "JIRA_EMAIL=a@b"}
	if diff := cmp.Diff(want, hostenv.Resolved(given)); diff != "" {
		t.Error(diff)
	}
	if given[0] != "GH_TOKEN=${GH_TOKEN}" {
		t.Error("the argument is changed")
	}
}
