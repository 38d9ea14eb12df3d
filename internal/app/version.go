package app

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// release and packager are set by the release build:
// -ldflags "-X …/internal/app.release=v1.2.3 -X …/internal/app.packager=goreleaser".
var release, packager string

// Version returns the release this program was built as, else what the Go command
// knows: a module version, or "devel" with the revision.
func Version() string { return Origin().Version }

// Build says what a program is and where it comes from. Fields are empty where the build
// did not record them.
type Build struct {
	Version string `json:"version"`
	// Source is the module, and Revision the commit of its repository; Modified says that
	// there were changes on top of it.
	Source   string `json:"source,omitempty"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	// By is who built it: a packager, "go install" of a published version, or "go build" of
	// a working copy.
	By       string `json:"by"`
	Platform string `json:"platform"`
}

// Origin returns the build of this program.
func Origin() Build {
	b := Build{Version: release, By: packager, Platform: runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	b.Source = info.Main.Path
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	published := info.Main.Version != "" && info.Main.Version != "(devel)" && b.Revision == ""
	if b.By == "" {
		b.By = "go build"
		if published {
			b.By = "go install"
		}
	}
	if b.Version == "" {
		b.Version = b.unreleased(info.Main.Version)
	}
	return b
}

// unreleased names a build without a release by what the Go command says of it.
func (b Build) unreleased(module string) string {
	if module != "" && module != "(devel)" {
		return module
	}
	var version strings.Builder
	version.WriteString("devel")
	if len(b.Revision) >= 12 {
		version.WriteString("-" + b.Revision[:12])
	}
	if b.Modified {
		version.WriteString("-dirty")
	}
	return version.String()
}
