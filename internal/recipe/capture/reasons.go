package capture

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

const (
	// maxReasons is the maximum number of lines that explain a failure.
	maxReasons = 12
	// worthReasons is the minimum number of output lines for which an explanation is useful.
	worthReasons = 10
	// maxReason is the maximum length of such a line, in characters.
	maxReason = 300
)

// mistake finds the lines in which compilers, linters, test runners, and just report errors: an
// error word in a typical place, a position in a file, or the mark of a failed test.
var mistake = lazyregexp.New(`(?i:^\s*(?:\S+:\s*)?(?:fatal|panic|fatal error|uncaught|unhandled|traceback|segmentation fault|exception)\b` +
	`|\b(?:error|errors?\[\w+\]|failure|failed)\s*:` +
	`|^\s*error\b` +
	`|^\S+: (?:command not found|no such file or directory|permission denied))` +
	`|^\s*(?:--- FAIL|FAIL\b|FAILED\b|not ok\b|E   |✗|✖|×|● )` +
	`|\b[A-Z]\w*(?:Error|Exception)\b` +
	`|^\s*\S+\.\w+:\d+(?::\d+)?: `)

// suspect reports whether a line can match [mistake]. Most lines cannot, and the expression
// takes microseconds for each of them.
func suspect(line []byte) bool {
	lower := strings.ToLower(string(line))
	for _, word := range [...]string{
		"error", "fail", "fatal", "panic", "uncaught", "unhandled", "traceback", "segmentation fault", "exception",
		"not found", "no such file", "denied", "not ok", "e   ",
	} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	for i, c := range []byte(lower) {
		// A position in a file, or the mark of a failed test.
		if c >= utf8.RuneSelf || c == ':' && i+1 < len(lower) && '0' <= lower[i+1] && lower[i+1] <= '9' {
			return true
		}
	}
	return false
}

// explanation collects the lines that explain a failure during the output: they can be in a part
// that is not stored.
type explanation struct {
	line        []byte // the last line, as far as it is complete
	lines       int
	read        int64
	first, last []string
}

const (
	// maxRead is the number of bytes of an output that are searched for an explanation.
	maxRead = 8 << 20
	// maxLine is the number of bytes of a line that are searched.
	maxLine = 2 << 10
	// lastReasons is the number of reasons from the end: the first errors cause others, and the
	// last lines summarize.
	lastReasons = 2
)

func (e *explanation) write(p []byte) {
	if e.read += int64(len(p)); e.read > maxRead {
		return
	}
	for {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		e.line = append(e.line, line[:min(len(line), maxLine+1-len(e.line))]...)
		if !ended {
			return
		}
		e.consider()
		p = rest
	}
}

// consider examines the line that has ended.
func (e *explanation) consider() {
	e.lines++
	if !suspect(e.line) {
		e.line = e.line[:0]
		return
	}
	var line string
	if len(e.line) > maxLine {
		line = beginning(e.line[:maxLine])
	} else {
		line = strings.TrimRight(clean(e.line), " \t")
	}
	e.line = e.line[:0]
	if !mistake.Get().MatchString(line) || slices.Contains(e.first, line) || slices.Contains(e.last, line) {
		return
	}
	if len(e.first) < maxReasons-lastReasons {
		e.first = append(e.first, line)
		return
	}
	if e.last = append(e.last, line); len(e.last) > lastReasons {
		e.last = e.last[1:]
	}
}

// Reasons returns the lines that explain why a run failed, in their order, each after redact; none
// if the output is short enough to read.
func (o *Output) Reasons(redact func(string) string) []string {
	o.mu.Lock()
	seen := o.reasons
	seen.line, seen.first, seen.last = slices.Clone(seen.line), slices.Clone(seen.first), slices.Clone(seen.last)
	var end []byte
	if seen.read > maxRead {
		end = append(append(end, o.tail[o.next:]...), o.tail[:o.next]...)
	}
	o.mu.Unlock()
	if end != nil {
		seen.line, seen.read = nil, 0
		_, end, _ = bytes.Cut(end, []byte("\n"))
		seen.write(end)
	}
	if len(seen.line) > 0 {
		seen.consider()
	}
	if seen.lines < worthReasons {
		return nil
	}
	found := slices.Concat(seen.first, seen.last)
	for i, line := range found {
		// A cut before this could leave part of a secret.
		found[i] = cleantext.Cut(redact(ended(line, redact)), maxReason)
	}
	return found
}
