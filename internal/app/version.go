package app

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// release and packager are set by the release build:
// -ldflags "-X …/internal/app.release=v1.2.3 -X …/internal/app.packager=goreleaser".
var release, packager string

// Version returns the release of this program, or else the version that the Go command recorded: a
// module version, or "devel" with the revision.
func Version() string { return Origin().Version }

// Build describes a program and its origin. Fields are empty if the build did not record them.
type Build struct {
	Version string `json:"version"`
	// Source is the module, Revision the commit of its repository. Modified reports uncommitted
	// changes.
	Source   string `json:"source,omitempty"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	// By is the builder: a packager, "go install" of a published version, or "go build" of a
	// working copy.
	By       string `json:"by"`
	Platform string `json:"platform"`
}

// Origin returns the build of this program.
func Origin() Build { return origin() }

// origin reads the build once: every start needs the version two or three times.
var origin = sync.OnceValue(func() Build {
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
})

// unreleased describes a build without a release by the data of the Go command.
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
