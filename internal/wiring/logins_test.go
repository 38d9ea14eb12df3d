package wiring

import (
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
