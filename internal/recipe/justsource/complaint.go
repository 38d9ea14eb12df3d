package justsource

import (
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// Just marks the position of an error with an arrow, and then quotes the line.
var (
	arrow   = lazyregexp.New(`^\s*(?:——▶|-->)\s*(.*?):(\d+):\d+\s*$`)
	excerpt = lazyregexp.New(`^\s*\d*\s*[│|]`)
)

const (
	maxComplaint      = 500
	maxComplaintLines = 5
)

// Complaint returns just's message about copies in a directory: the message, the file, and the
// line. It omits the quoted source, which could contain anything.
func Complaint(stderr, dir string) string {
	var message []string
	location := ""
	for line := range strings.Lines(stderr) {
		line = strings.TrimRight(line, "\r\n")
		if at := arrow.Get().FindStringSubmatch(line); at != nil {
			location = withoutDir(at[1], dir) + ", line " + at[2] + ": "
			break
		}
		if excerpt.Get().MatchString(line) || len(message) == maxComplaintLines {
			break
		}
		message = append(message, withoutDir(line, dir))
	}
	text := strings.TrimSpace(strings.TrimPrefix(strings.Join(message, "\n"), "error: "))
	return cleantext.Cut(cleantext.Block(location+text), maxComplaint)
}

// withoutDir returns a text without the path of the copies, which nobody else knows.
func withoutDir(text, dir string) string {
	return strings.ReplaceAll(text, dir+string(filepath.Separator), "")
}
