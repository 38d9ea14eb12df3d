package wiring

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/regular"
	secrets "github.com/copse-dev/copse/internal/secret"
)

// maxLogins is the maximum number of logins of a configuration that are redacted. Each is searched for in
// all output, and a repository can configure any number.
const (
	maxLogins = 64
	// maxLogin is the maximum length of their passwords.
	maxLogin = 512
)

// logins adds the logins that git's configuration holds: in the URLs of remotes, in the
// URLs that replace them, in those of proxies, and in headers that go with requests.
func logins(c gitconfig.Config, add func(login, secret string)) {
	found := 0
	known := func(login, secret string) {
		if secret == "" && !secrets.IsToken(login, secret) || len(secret) > maxLogin || found == maxLogins || strings.ContainsFunc(login+secret, blank) {
			return
		}
		found++
		add(login, secret)
	}
	for _, e := range c {
		if strings.HasSuffix(e.Key, ".extraheader") {
			authorization(e.Value, known)
		}
		if strings.HasSuffix(e.Key, ".proxy") && !strings.Contains(e.Value, "://") {
			secrets.InURL(e.Value, known)
		}
		for _, text := range []string{e.Key, e.Value} {
			if !strings.Contains(text, "://") {
				continue
			}
			// A URL can be part of a command, or of a key.
			for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t'\"", r) }) {
				address := strings.TrimPrefix(word, "url.")
				known(remoteurl.RemoteLogin(address))
				if strings.Contains(address, "?") {
					secrets.InURL(address, known)
				}
			}
		}
	}
}

// blank reports whether a character is one that no token has. A repository configures its logins, and
// could otherwise remove whole sentences from the answers of copse.
func blank(r rune) bool { return unicode.IsSpace(r) || cleantext.Invisible(r) }

// authorization adds what a header says: "Authorization: Basic YWRhOnNlY3JldA==".
func authorization(header string, add func(login, secret string)) {
	words := strings.Fields(header)
	if len(words) < 2 {
		return
	}
	credential := words[len(words)-1]
	add("", credential)
	if decoded, err := base64.StdEncoding.DecodeString(credential); err == nil {
		if login, password, ok := strings.Cut(string(decoded), ":"); ok {
			add(login, password)
		}
	}
}

// following returns a function that adds the tokens of a directory if that has changed since the last
// call.
func following(dir string, add func(secret string)) func() {
	var mu sync.Mutex
	var read time.Time
	return func() {
		info, err := os.Stat(dir)
		if err != nil {
			return // there are none
		}
		mu.Lock()
		defer mu.Unlock()
		if !info.ModTime().Equal(read) {
			read = info.ModTime()
			tokens(dir, add)
		}
	}
}

// tokens adds the tokens of the user's servers, which are files of a directory.
func tokens(dir string, add func(secret string)) {
	const maxToken = 1 << 10
	entries, err := regular.ReadDir(dir)
	if err != nil {
		return // there are none
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue // a lock
		}
		if token, err := regular.Read(filepath.Join(dir, e.Name()), maxToken); err == nil {
			add(string(token))
		}
	}
}
