package wiring

import (
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
	"github.com/copse-dev/copse/internal/secret/setting"
)

// maxLogins is the maximum number of logins of a configuration that are redacted. Each is searched for in
// all output, and a repository can configure any number.
const (
	maxLogins = 64
	// maxLogin is the maximum length of their passwords.
	maxLogin = 512
)

// logins adds the logins that git's configuration holds: in URLs, wherever they are in a key or a value, in the
// addresses of proxies, in headers that go with requests, and in values whose name is that of a secret.
func logins(c gitconfig.Config, add func(login, secret string)) {
	found := make(map[[2]string]bool)
	counted := map[bool]int{} // those of the user count apart: a repository must not displace them
	adding := func(users, spaces bool) func(login, secret string) {
		return func(login, secret string) {
			if spaces {
				login, secret = strings.TrimSpace(login), strings.TrimSpace(secret)
			}
			unusual := func(r rune) bool { return blank(r) && (r != ' ' || !spaces) }
			if secret == "" && !secrets.IsToken(login, secret) || len(secret) > maxLogin || strings.ContainsFunc(login+secret, unusual) {
				return
			}
			if pair := [2]string{login, secret}; !found[pair] && counted[users] < maxLogins {
				found[pair] = true
				counted[users]++
				add(login, secret)
			}
		}
	}
	for _, e := range c {
		spaces := e.Users && (strings.HasSuffix(e.Key, "smtppass") || strings.HasSuffix(e.Key, "password")) // not each word that ends in "pass"
		inURL := func(address string, _ func(login, secret string)) { loginsIn(address, adding(e.Users, e.Users)) }
		setting.In(e.Key, e.Value, inURL, adding(e.Users, spaces))
	}
}

// loginsIn calls known with the logins in the address of a remote, and with those in a URL that can be read in another
// way.
func loginsIn(address string, known func(login, secret string)) {
	known(remoteurl.RemoteLogin(address))
	_, rest, _ := strings.Cut(address, "://")
	_, path, _ := strings.Cut(rest, "/")
	if strings.ContainsAny(rest, "?#;") || strings.Contains(path, "@") {
		secrets.InURL(address, known)
	}
}

// blank reports whether a character is one that no token has. A repository configures its logins, and
// could otherwise remove whole sentences from the answers of copse. A password of the user can have spaces.
func blank(r rune) bool { return unicode.IsSpace(r) || cleantext.Invisible(r) }

// parameters returns the configuration in $GIT_CONFIG_PARAMETERS, which git passes to the programs that it
// starts. copse itself does not use it.
func parameters(text string) gitconfig.Config {
	c := gitconfig.Config{{Value: text, Users: true}}
	for word := range strings.SplitSeq(strings.ReplaceAll(text, "'='", "="), "'") {
		key, value, _ := strings.Cut(word, "=")
		c = append(c, gitconfig.Entry{Key: strings.ToLower(key), Value: value, Users: true})
	}
	return c
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
