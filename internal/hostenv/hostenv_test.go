package hostenv_test

import (
	"path/filepath"
	"slices"
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
		"HOME=.", "GIT_CONFIG_GLOBAL=~/.gitconfig", "XDG_CONFIG_HOME=config", "GIT_CONFIG_SYSTEM=", "PWD=a", "SSL_CERT_DIR=/etc/ssl" + string(filepath.ListSeparator) + "certs",
	}
	want := []string{"GH_HOST=$JIRA_HOST", "EMPTY=", "X=$X", "JIRA_EMAIL=a@b", "GIT_CONFIG_SYSTEM=", "PWD=a"}
	if diff := cmp.Diff(want, hostenv.Resolved(given)); diff != "" {
		t.Error(diff)
	}
	var unset []string
	hostenv.Resolve(given, func(name string) { unset = append(unset, name) })
	if removed := len(given) - len(want); len(unset) != removed || !slices.Contains(unset, "SSL_CERT_DIR") || !slices.Contains(unset, "GH_TOKEN") {
		t.Errorf("%q are unset; %d variables are removed", unset, removed)
	}
	if given[0] != "GH_TOKEN=${GH_TOKEN}" {
		t.Error("the argument is changed")
	}
}
