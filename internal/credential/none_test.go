package credential_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/copse-dev/copse/internal/credential"
)

// Only where nothing could hold a login is there surely none.
func TestNoLogin(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env          map[string]string
		file         string
		github, jira bool
	}{
		"nothing":                 {github: true, jira: true},
		"a token":                 {env: map[string]string{"GITHUB_TOKEN": "x"}, jira: true},
		"an enterprise token":     {env: map[string]string{"GH_ENTERPRISE_TOKEN": "x"}, jira: true},
		"an empty token":          {env: map[string]string{"GH_TOKEN": " "}, github: true, jira: true},
		"a token of Jira":         {env: map[string]string{"JIRA_PAT": "x"}, github: true},
		"a netrc file":            {file: ".netrc"},
		"a login of gh":           {file: ".config/gh/hosts.yml", jira: true},
		"only its configuration":  {file: ".config/gh/config.yml", github: true, jira: true},
		"a login of gh elsewhere": {env: map[string]string{"XDG_CONFIG_HOME": "HOME/x"}, file: "x/gh/hosts.yml", jira: true},
	} {
		home := t.TempDir()
		if tt.file != "" {
			path := filepath.Join(home, filepath.FromSlash(tt.file))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f := credential.Finder{Home: home, GOOS: "linux", Getenv: func(name string) string {
			if tt.env[name] == "HOME/x" {
				return filepath.Join(home, "x")
			}
			return tt.env[name]
		}}
		if f.NoGitHub() != tt.github || f.NoJira() != tt.jira {
			t.Errorf("%s: no login for GitHub: %t, for Jira: %t", name, f.NoGitHub(), f.NoJira())
		}
	}
}
