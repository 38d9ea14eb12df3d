package wiring

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/secret"
)

// Each login of a configuration is known, in every form in which git takes it.
func TestLogins(t *testing.T) {
	t.Parallel()
	const token = "ghp_0123456789abcdefABCDEF"
	for _, line := range []string{
		"[remote \"o\"]\nurl = https://" + token + ":x-oauth-basic@github.com/o/r", "[remote \"o\"]\nurl = https://" + token + ":@github.com/o/r",
		"[remote \"o\"]\nurl = https://" + token + "@github.com/o/r", "[remote \"o\"]\nurl = https://h/r?access_token=" + token,
		"[remote \"o\"]\nproxy = ada:" + token + "@proxy:3128", "[http]\nproxy = http://ada:" + token + "@proxy",
		"[http]\nextraHeader = Authorization: Bearer " + token, "[url \"https://ada:" + token + "@h/\"]\ninsteadOf = x:",
		"[remote \"o\"]\nurl = https://ada:" + token + "@h/o/r@v2", "[remote \"o\"]\nurl = https://ada:" + token + "@h/@scope/r",
		"[remote \"https://ada:" + token + "@h/r\"]\npromisor = true", "[lfs \"https://ada:" + token + "@h/r\"]\naccess = basic",
		"[http \"https://ada:" + token + "@h/\"]\nsslVerify = true", "[credential \"https://" + token + "@h\"]\nhelper = cache",
		"[remote \"o\"]\nurl = gcrypt::https://ada:" + token + "@h/r", "[remote \"o\"]\nurl = my.helper://ada:" + token + "@h/r",
		"[remote \"o\"]\nurl = ext::sh -c (x=https://ada:" + token + "@h/r)", "[remote \"o\"]\nurl = https://ada:" + token + "@h/?to=http://b:c@h",
		"[http]\nextraHeader = PRIVATE-TOKEN:" + token, "[http]\nextraHeader = Cookie: session=" + token + "; other=1",
		"[git-town]\ngithub-token = " + token, "[git-town]\ngitlab-token = " + token, "[sendemail]\nsmtpPass = " + token,
		"[core]\nsshCommand = sshpass -p " + token + " ssh", "[credential]\nhelper = \"!f() { echo password=" + token + "; }; f\"", "[alias]\nx = !curl --token " + token,
		"[alias]\nx = \"!curl -H 'Authorization: Bearer " + token + "' h\"", "[alias]\nx = !curl -u ada:" + token + " h",
		"[filter \"x\"]\nclean = x --api-key " + token, "[remote \"o\"]\nurl = ext::sshpass -p " + token + " ssh",
		"[remote \"o\"]\nurl = https://h/r?key=" + token, "[remote \"o\"]\nurl = https://h/r?auth=" + token, "[remote \"o\"]\nurl = https://h/r?access_key=" + token,
	} {
		config, err := gitconfig.Parse([]byte(line + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		known := secret.New(nil)
		logins(config, known.AddLogin)
		if got := known.Redact("x " + token); strings.Contains(got, token) {
			t.Errorf("not known: %s", line)
		}
	}
}

// A password can have quotation marks, and one of the user's own configuration can have spaces.
func TestOddPasswords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		entry gitconfig.Entry
		want  string
	}{
		{gitconfig.Entry{Key: "remote.o.url", Value: "https://me:Zk9f'mVx7LpT@h/o/r"}, "Zk9f'mVx7LpT"},
		{gitconfig.Entry{Key: "remote.o.url", Value: `https://me:Zk9f"mVx7LpT@h/o/r`}, `Zk9f"mVx7LpT`},
		{gitconfig.Entry{Key: "sendemail.smtppass", Value: "abcd efgh ijkl", Users: true}, "abcd efgh ijkl"},
		{gitconfig.Entry{Key: "http.proxy", Value: "https://me:correct%20horse@h", Users: true}, "correct horse"},
		{gitconfig.Entry{Key: "sendemail.smtppass", Value: "all words that copse says"}, ""}, // a repository's
		{gitconfig.Entry{Key: "some.bypass", Value: "never use proxy", Users: true}, ""},
		{gitconfig.Entry{Key: "sendemail.smtppass", Value: "two\nlines", Users: true}, ""},
	} {
		known := secret.New(nil)
		logins(gitconfig.Config{tt.entry}, known.AddLogin)
		text := "x " + cmp.Or(tt.want, tt.entry.Value) + " y"
		if got := known.Redact(text); (got != text) != (tt.want != "") {
			t.Errorf("%+v: %q", tt.entry, got)
		}
	}
}

// A repository with many logins does not displace those of the user.
func TestUsersLogins(t *testing.T) {
	t.Parallel()
	const token = "ghp_0123456789abcdefABCDEF"
	var config gitconfig.Config
	for i := range 100 {
		config = append(config, gitconfig.Entry{Key: "x.token", Value: fmt.Sprintf("repository-%08d", i)})
	}
	known := secret.New(nil)
	logins(append(config, gitconfig.Entry{Key: "http.extraheader", Value: "Authorization: Bearer " + token, Users: true}), known.AddLogin)
	if got := known.Redact("x " + token); strings.Contains(got, token) {
		t.Error("the user's login is not known")
	}
}

// Settings without a login leave words and addresses as they are.
func TestNoLogins(t *testing.T) {
	t.Parallel()
	config, err := gitconfig.Parse([]byte(`[core]
askPass = /usr/bin/ssh-askpass
sshCommand = ssh -i ~/.ssh/token -o PasswordAuthentication=no
[credential]
helper = store --file /home/ada/.git-credentials
helper = "!f() { echo \"password=$GITHUB_TOKEN\"; }; f"
[alias]
pass = cherry-pick
token = "!pass show tokens"
[remote "o"]
url = https://example.com:8080/group/project
url = ssh://git@example.com/group/project
url = git@example.com:group/project
url = https://example.com/group/project?ref=abcdefghijkl
[user]
signingKey = ABCDEF0123456789
[http]
sslKey = /home/ada/secret.pem
`))
	if err != nil {
		t.Fatal(err)
	}
	logins(config, func(login, secret string) {
		t.Errorf("%q, %q is a login", login, secret)
	})
}

// The logins of $GIT_CONFIG_PARAMETERS, in both of its forms, are known.
func TestParameters(t *testing.T) {
	t.Parallel()
	const token = "ghp_0123456789abcdefABCDEF"
	for _, text := range []string{
		"'a.b=c' 'http.extraHeader=Authorization: bearer " + token + "'", "'http.extraheader'='Authorization: bearer " + token + "' 'a.b'",
		"'remote.https://ada:" + token + "@h/r.promisor'='true'",
	} {
		known := secret.New(nil)
		logins(parameters(text), known.AddLogin)
		if known.Redact(token) != secret.Mask {
			t.Errorf("not known: %s", text)
		}
	}
}

// A configuration of a megabyte takes no time.
func TestManyAddresses(t *testing.T) {
	t.Parallel()
	start := time.Now()
	logins(gitconfig.Config{{Key: "a.b", Value: strings.Repeat("://a:b@c?d", 100_000)}}, func(string, string) {})
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

// A repository's configuration cannot remove sentences of copse.
func TestSentencesAreNoLogins(t *testing.T) {
	t.Parallel()
	config, err := gitconfig.Parse([]byte("[remote \"o\"]\nurl = https://u:The%20text%20below@h/o/r\nurl = https://u:%E2%80%8Bunknown@h/o/r\n"))
	if err != nil {
		t.Fatal(err)
	}
	known := secret.New(nil)
	logins(config, known.AddLogin)
	const text = "The text below (unknown)"
	if got := known.Redact(text); got != text {
		t.Error(got)
	}
}

// The tokens of the user's servers are known to every process.
func TestTokens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 200 { // each token has a lock
		if err := os.WriteFile(filepath.Join(dir, "."+strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known := secret.New(nil)
	known.Follow(following(filepath.Join(dir, "none"), known.Add))
	known.Follow(following(dir, known.Add))
	if got := known.Redact("x 0123456789abcdef y"); got != "x "+secret.Mask+" y" {
		t.Error(got)
	}
	// Another process adds a token.
	if err := os.WriteFile(filepath.Join(dir, "b"), []byte("fedcba9876543210\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(dir, time.Time{}, time.Now().Add(time.Second)); err != nil { // clocks of files are coarse
		t.Fatal(err)
	}
	if got := known.Redact("0123456789abcdef fedcba9876543210"); got != secret.Mask+" "+secret.Mask {
		t.Error(got)
	}
}
