// Package refusal explains why git's work with a remote failed, and tells the words of git and ssh from those
// that the remote can choose.
//
// Use [Of] for the standard error of a git that failed. The text of an [Error] quotes the remote's words.
package refusal

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/xec"
)

// Error is the error of git's work with a remote.
type Error struct {
	exit        *xec.ExitError
	own, hint   string // what git or ssh states, and what copse adds; see Advise
	says, words string // who says what cannot be told from the remote's words
}

// Transport is the way to a remote. It decides which words on git's standard error can be the remote's.
type Transport int

// The ways to a remote.
const (
	Directly Transport = iota // another git on this machine
	OverHTTP
	OverSSH
)

var (
	// ofHTTP matches the beginning of git's errors over HTTP that quote addresses and errors of this
	// side only.
	ofHTTP = lazyregexp.New(`^(?:unable to access '|repository '|Authentication failed for '|could not read (?:Username|Password) for '|(?:error: )?failed to push some refs to '|(?:error: )?RPC failed; )`)
	// ofSSH matches errors of git and ssh that a remote would gain nothing from.
	ofSSH = lazyregexp.New(`^(?:Host key verification failed\.` +
		`|(?:[\w.@:%\[\]-]+: )?Permission denied \([\w,-]+\)\.` +
		`|ssh: connect to host [\w.:%-]+ port \d+: (?:Connection refused|Connection timed out|Operation timed out|No route to host|Network is unreachable)` +
		`|ssh: Could not resolve hostname [\w.:%-]+: (?:Name or service not known|Temporary failure in name resolution|nodename nor servname provided, or not known|No such host is known\.)` +
		`|error: cannot run [\w./-]+: No such file or directory|unable to fork` +
		`|Could not read from remote repository\.|the remote end hung up unexpectedly` +
		`|\w+ make sure you have the correct access rights|and the repository exists\.` +
		`|error: failed to push some refs to '[\w.@:%/~+\[\]-]+')$`)
	// inserted matches the place in an error of git where words of the remote can begin.
	inserted = lazyregexp.New(`\B'|"|: `)
	// kind matches the beginning of a line of git that states no reason.
	kind = lazyregexp.New(`^(?:error|warning|hint): `)
	// redirected matches git's error for an answer that names another address.
	redirected = lazyregexp.New(`\breturned error: 30[1-8]\b`)
	// sent matches the beginning of git's error for one that the remote sent.
	sent = lazyregexp.New(`^(?:error: )?remote (?:error|unpack failed): `)
)

// Of returns the error of a git that exited with errors on its standard error. The first line
// of git's own is the reason, as the others are general advice, and so is the first one of the remote.
func Of(exit *xec.ExitError, stderr string, by Transport) *Error {
	r := &Error{exit: exit}
	foreign := false // the remote's words can have more lines, which look like git's
	for line := range strings.Lines(stderr) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "fatal: ")
		said, own, theirs := "the remote says", "", line
		if prefixed, ok := strings.CutPrefix(line, "remote:"); ok {
			theirs = strings.TrimSpace(prefixed)
		} else if at := sent.Get().FindString(line); at != "" {
			foreign, theirs = true, line[len(at):]
		} else if !foreign {
			said, own, theirs = by.split(line)
			foreign = by == OverHTTP && theirs != ""
		}
		r.own = cmp.Or(r.own, own)
		if r.words == "" && theirs != "" {
			r.says, r.words = said, theirs
		}
	}
	switch {
	case r.Redirected():
		r.hint = "; it names another address, which copse does not follow; set that address with `git remote set-url`"
	case strings.HasPrefix(r.own, "Host key verification failed"), strings.Contains(r.own, "Permission denied ("):
		r.hint = " Run `git fetch` in a terminal to see what ssh asks"
	}
	return r
}

// split separates git's words in one of its errors from those that can be the remote's.
func (by Transport) split(line string) (says, own, theirs string) {
	switch {
	case by == OverSSH && !ofSSH.Get().MatchString(line):
		return "ssh or the remote says", "", line
	case by == OverHTTP && !ofHTTP.Get().MatchString(line):
		text := kind.Get().ReplaceAllString(line, "")
		if at := inserted.Get().FindStringIndex(text); at != nil {
			return "git or the remote says", strings.TrimRight(text[:at[0]], " "), strings.TrimPrefix(text[at[0]:], ": ")
		}
	}
	return "", line, ""
}

func (r *Error) Error() string {
	const maxWords = 200
	own := r.own + r.hint
	if r.words == "" {
		return cmp.Or(own, r.exit.Error())
	}
	words := fmt.Sprintf("%s %q", r.says, cleantext.Cut(cleantext.Line(r.words), maxWords))
	if own == "" {
		return words
	}
	return strings.TrimSuffix(own, ".") + "; " + words
}

// Redirected reports whether the server named another address.
func (r *Error) Redirected() bool { return redirected.Get().MatchString(r.own) }

// Advise replaces what follows git's own reason.
func (r *Error) Advise(hint string) { r.hint = hint }

func (r *Error) Unwrap() error { return r.exit }
