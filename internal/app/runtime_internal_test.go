package app

import (
	"testing"
)

// The socket is at one place whether a program inherits the XDG_ variables or not.
func TestRuntimeDir(t *testing.T) {
	t.Parallel()
	systemd := func(path string, uid int) bool { return path == "/run/user/1000" && uid == 1000 }
	none := func(string, int) bool { return false }
	for name, tt := range map[string]struct {
		goos    string
		environ []string
		private func(string, int) bool
		want    string
	}{
		"systemd":                   {"linux", []string{"XDG_RUNTIME_DIR=/run/user/1000"}, systemd, "/run/user/1000/copse"},
		"systemd, variable dropped": {"linux", nil, systemd, "/run/user/1000/copse"},
		"of the user's own":         {"linux", []string{"XDG_RUNTIME_DIR=/home/u/run"}, systemd, "/home/u/run/copse"},
		"not a path":                {"linux", []string{"XDG_RUNTIME_DIR=run"}, systemd, "/run/user/1000/copse"},
		"no runtime directory":      {"linux", []string{"TMPDIR=/home/u/tmp"}, none, "/tmp/copse-1000"},
		"TMPDIR dropped":            {"linux", nil, none, "/tmp/copse-1000"},
		"macOS":                     {"darwin", []string{"TMPDIR=/var/folders/x"}, none, "/home/u/Library/Application Support/copse/run"},
	} {
		env := Env{GOOS: tt.goos, Environ: append([]string{"HOME=/home/u"}, tt.environ...)}
		if got := runtimeDir(env, 1000, tt.private); got != tt.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
