package wiring

import (
	"encoding/base64"
	"strings"

	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/github/remoteurl"
)

// maxLogins is the number of logins of a configuration that are redacted. Each is searched for in
// all output, and a repository can configure any number.
const maxLogins = 64

// logins adds the logins that git's configuration holds: in the URLs of remotes, in the
// URLs that replace them, in those of proxies, and in headers that go with requests.
func logins(c gitconfig.Config, add func(login, secret string)) {
	found := 0
	known := func(login, secret string) {
		if secret == "" || found == maxLogins {
			return
		}
		found++
		add(login, secret)
	}
	for _, e := range c {
		if strings.HasSuffix(e.Key, ".extraheader") {
			authorization(e.Value, known)
		}
		for _, text := range []string{e.Key, e.Value} {
			if !strings.Contains(text, "://") {
				continue
			}
			// A URL can be part of a command, or of a key.
			for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t'\"", r) }) {
				known(remoteurl.RemoteLogin(strings.TrimPrefix(word, "url.")))
			}
		}
	}
}

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
