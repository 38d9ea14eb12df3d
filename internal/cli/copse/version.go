package copse

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
)

// build is the JSON form.
type build struct {
	app.Build
	// Path is the path of the running program.
	Path string `json:"path,omitempty"`
}

func version(env app.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version and its origin",
		Example: "  copse version --json",
		Args:    app.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := build{Build: app.Origin()}
			b.Path = env.Executable
			o := output.New(env)
			if asJSON {
				return o.JSON(b)
			}
			return o.Fold(cleantext.Block(b.String()) + "\n")
		},
	}
	output.JSONFlag[build](cmd, &asJSON)
	return cmd
}

// String returns the version, and its origin on a second line.
func (b build) String() string {
	from := []string{"built by " + b.By}
	if b.Source != "" {
		from = append(from, "from "+b.Source)
	}
	if b.Revision != "" {
		from = append(from, "at "+b.Revision)
	}
	if b.Modified {
		from = append(from, "with uncommitted changes")
	}
	if b.Time != "" {
		from = append(from, "of "+b.Time)
	}
	return fmt.Sprintf("copse %s (%s)\n%s\n%s", b.Version, b.Platform, strings.Join(from, " "), b.Path)
}
