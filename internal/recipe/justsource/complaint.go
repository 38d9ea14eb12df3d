package justsource

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// Just marks the position of an error with an arrow, and then quotes the line.
var (
	arrow   = lazyregexp.New(`^\s*(——▶|-->)\s*(.*?):(\d+):\d+\s*$`)
	excerpt = lazyregexp.New(`^\s*(\d*)\s*[│|] ?(.*)`)
)

// Position returns the file and the line in a line with which just marks the position of an error. Compilers use the
// mark of its older releases.
func Position(line string) (file, number string, older, ok bool) {
	at := arrow.Get().FindStringSubmatch(line)
	if at == nil {
		return "", "", false, false
	}
	return at[2], at[3], at[1] == "-->", true
}

// Quoted returns the text that just quotes in a line of an error, "" if the line only surrounds one.
func Quoted(line string) (number, text string, ok bool) {
	at := excerpt.Get().FindStringSubmatch(line)
	if at == nil {
		return "", "", false
	}
	return at[1], at[2], true
}

const (
	maxComplaint      = 500
	maxComplaintLines = 5
)

// errOutside reports that just read what copse did not give to it.
var errOutside = &FileError{Problem: "it reads a file outside the project; move the file into the project, or copy what you need of it"}

// Complaint returns just's message about copies in a directory: the message, the file, and the
// line. The message is quoted, as it repeats texts of the justfile. It omits the quoted source, which could contain anything, and everything about a file that is not a
// copy.
func Complaint(stderr, dir string) string {
	var message []string
	location, quoted := "", false
	for line := range strings.Lines(stderr) {
		line = strings.TrimRight(line, "\r\n")
		if file, number, _, ok := Position(line); ok {
			name, err := Original(file, dir)
			if err != nil {
				return err.Error()
			}
			if !quoted {
				location = shown(name) + ", line " + number + ": "
			}
			quoted = true
		}
		_, _, surrounds := Quoted(line)
		if quoted = quoted || surrounds || len(message) == maxComplaintLines; !quoted {
			message = append(message, withoutDir(line, dir))
		}
	}
	text := strings.TrimSpace(strings.TrimPrefix(strings.Join(message, "\n"), "error: "))
	text = strings.ReplaceAll(cleantext.Line(text), "`", "'") // which are escapes in a name
	return location + strconv.Quote(cleantext.Cut(text, maxComplaint))
}

// Original returns the name in the project of a copy in a directory. It is an error if the file is not a copy.
// just shows a path relative to the justfile, which is in the directory, or an absolute one. The system can have
// a link to temporary files, so only the end of the directory's path counts there, which is random.
func Original(file, dir string) (string, error) {
	name := filepath.FromSlash(file)
	if filepath.IsAbs(name) {
		end := filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir)) + string(filepath.Separator)
		_, name, _ = strings.Cut(name, end)
	}
	if !filepath.IsLocal(name) {
		return "", errOutside
	}
	return filepath.ToSlash(name), nil
}

// withoutDir returns a text without the path of the copies, which nobody else knows.
func withoutDir(text, dir string) string {
	return strings.ReplaceAll(text, dir+string(filepath.Separator), "")
}
