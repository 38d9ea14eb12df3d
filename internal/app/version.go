package app

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// release is set by the release build: -ldflags "-X …/internal/app.release=v1.2.3".
var release string

// Version is the release this program was built as, else what the Go command
// knows: a module version, or "devel" with the revision.
func Version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	var version strings.Builder
	version.WriteString("devel")
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			version.WriteString("-" + s.Value[:12])
		case s.Key == "vcs.modified" && s.Value == "true":
			version.WriteString("-dirty")
		}
	}
	return version.String()
}

// Platform is the operating system, architecture and Go version.
func Platform() string {
	return runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version()
}
