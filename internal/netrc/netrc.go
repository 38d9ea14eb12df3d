// Package netrc reads logins from a netrc file, in the way curl and git do, and
// never writes one.
//
// Find the file with [Path], read it with [Read], and search it with
// [File.Lookup]. Reading is tolerant: an invalid part is skipped and
// affects at most its own entry. It is strict in one respect: a
// login and a password are only ever returned together, and only for the
// machine in whose entry both are written.
//
// The format: blank-separated words. "machine NAME" begins an entry, which
// "login", "password", and "account", each with a value, fill; if one occurs
// twice, the first is used. The next "machine", "default", or "macdef" ends it.
// Line breaks are blanks, with these exceptions:
//
//   - "#" in place of a keyword, at the beginning of a line, or followed by
//     a blank, begins a comment up to the end of the line. Directly after a keyword
//     on the same line, "#x" is a value, because passwords may begin with it;
//   - a word in double quotes may contain blanks and the escapes \", \\, \n, \r, and
//     \t. The closing quote must be on the same line and before a blank;
//     otherwise, the opening one is a normal character;
//   - a keyword on the line after another keyword is not its value, and the word
//     "machine" is never a value unless quoted. An entry that lacks a value
//     therefore cannot take one from the next;
//   - "macdef" and everything up to the next empty line is skipped.
//
// The "default" entry is recognized and never used: see [File.HasDefault].
package netrc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxSize is the maximum size of a file in bytes.
const MaxSize = 1 << 20

var (
	// ErrTooLarge is the error for a file of more than MaxSize bytes.
	ErrTooLarge = errors.New("larger than 1 MiB")
	// ErrUTF16 is the error for a file in UTF-16, as some Windows programs write.
	ErrUTF16 = errors.New("in UTF-16; save it as UTF-8")
)

// Entry is the login for one machine.
type Entry struct {
	Machine, Login, Password, Account string
}

// Format prints the machine and no secret, whatever the verb.
func (e Entry) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "netrc entry(machine %s, login hidden)", e.Machine)
}

// File is the content of a netrc file.
type File struct {
	entries    []Entry
	hasDefault bool
}

// Format prints the number of entries, and none of them.
func (f *File) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "netrc file(entries: %d, hidden)", len(f.entries))
}

// Lookup returns the first entry for machine that has both a login and a password. Names are
// compared in full and without regard to case; a port or path is part of the name.
func (f *File) Lookup(machine string) (Entry, bool) {
	for _, e := range f.entries {
		if strings.EqualFold(e.Machine, machine) && e.Login != "" && e.Password != "" {
			return e, true
		}
	}
	return Entry{}, false
}

// Token returns the password of the first entry for machine that has no login.
func (f *File) Token(machine string) (string, bool) {
	for _, e := range f.entries {
		if strings.EqualFold(e.Machine, machine) && e.Login == "" && e.Password != "" {
			return e.Password, true
		}
	}
	return "", false
}

// Entries returns all entries, complete or not, in their order.
func (f *File) Entries() []Entry { return slices.Clone(f.entries) }

// Has reports whether machine has an entry, complete or not.
func (f *File) Has(machine string) bool {
	for _, e := range f.entries {
		if strings.EqualFold(e.Machine, machine) {
			return true
		}
	}
	return false
}

// HasDefault reports whether the file has a "default" entry. There is no access to its login: it is
// meant for any machine, so anyone who chooses the machine, such as the author of a cloned
// repository by its remote URL, would choose the recipient. It would also hide a token that was set
// for the machine elsewhere.
func (f *File) HasDefault() bool { return f.hasDefault }

// Parse reads the contents of a netrc file. Its errors are ErrTooLarge and ErrUTF16; it reads all
// other contents as far as possible.
func Parse(data []byte) (*File, error) {
	if len(data) > MaxSize {
		return nil, ErrTooLarge
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, ErrUTF16
	}
	var (
		f       File
		sc      = scanner{rest: strings.TrimPrefix(string(data), "\ufeff")}
		current *Entry // nil outside an entry and in the default entry
	)
	set := func(field func(*Entry) *string) {
		if v, ok := sc.value(); ok && current != nil && *field(current) == "" {
			*field(current) = v
		}
	}
	for {
		word, ok := sc.keyword()
		if !ok {
			return &f, nil
		}
		switch word {
		case "machine":
			current = nil
			if name, ok := sc.value(); ok && name != "" {
				f.entries = append(f.entries, Entry{Machine: name})
				current = &f.entries[len(f.entries)-1]
			}
		case "default":
			current = nil
			f.hasDefault = true
		case "macdef":
			current = nil
			sc.skipMacro()
		case "login":
			set(func(e *Entry) *string { return &e.Login })
		case "password":
			set(func(e *Entry) *string { return &e.Password })
		case "account":
			set(func(e *Entry) *string { return &e.Account })
		}
	}
}
