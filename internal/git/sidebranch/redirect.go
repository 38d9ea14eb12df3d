package sidebranch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git/sidebranch/refusal"
	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/regular"
)

// maxRedirects is how many redirects are followed: to https, and to the address with .git.
const maxRedirects = 2

var (
	// location matches that address in git's trace.
	location = lazyregexp.New(`(?im)<= Recv header: location: (\S+)\s*$`)
	// plain matches an address that an error can contain.
	plain = lazyregexp.New(`^https?://[A-Za-z0-9.:-]+/[\w./~%+-]+$`)
)

// redirects returns the options that keep git at the address of a remote, unless the user's
// configuration says something about redirects. A remote could send git on to another repository that
// the user can read, and get its items with the next push.
func (b *Branch) redirects(ctx context.Context, address string) []string {
	const key = "http.followRedirects"
	if _, err := b.git(ctx, nil, "config", "--get-urlmatch", key, address); err == nil {
		return nil
	}
	return []string{"-c", key + "=false"}
}

// following runs a transfer, and repeats it if the server names another address of the same repository.
func (b *Branch) following(ctx context.Context, other *side, transfer func(side) error) error {
	for range maxRedirects {
		err := transfer(*other)
		refused, ok := errors.AsType[*refusal.Error](err)
		if !ok || !refused.Redirected() {
			return err
		}
		to := b.location(ctx, *other)
		if to == "" {
			return err
		}
		rules, _ := b.rewritings(ctx)
		if !sameRepository(other.address, to, other.login) || rewritten(rules, to, false) != to || rewritten(rules, to, true) != to {
			refused.Advise(fmt.Sprintf("; it names another address, %s, which copse does not follow; if that is your repository, set it with `git remote set-url`", to))
			return err
		}
		b.named[other.address], other.address = to, to
	}
	return transfer(*other)
}

// location asks the server of a remote for the address that it names instead, "" if that is not one of a
// repository.
func (b *Branch) location(ctx context.Context, other side) string {
	trace := filepath.Join(b.own.Path, "redirect")
	defer func() { _ = os.Remove(trace) }()
	other.env = append(slices.Clip(other.env), "GIT_TRACE_CURL="+trace, "GIT_TRACE_CURL_NO_DATA=1", "GIT_TRACE_REDACT=1")
	_, _ = b.run(ctx, transfer, nil, b.listing(other), other) // the error is known
	text, err := regular.Read(trace, maxSaid)
	if err != nil {
		return ""
	}
	found := location.Get().FindAllSubmatch(text, -1)
	from, err := url.Parse(strings.TrimSuffix(other.address, "/") + "/info/refs")
	if err != nil || len(found) == 0 {
		return ""
	}
	to, err := from.Parse(string(found[len(found)-1][1]))
	if err != nil {
		return ""
	}
	to.RawQuery, to.Fragment = "", ""
	address, ok := strings.CutSuffix(to.String(), "/info/refs")
	if !ok || !plain.Get().MatchString(address) {
		return ""
	}
	return address
}

// sameRepository reports whether an address differs from another one at most in .git at its end, and in
// https instead of http. A login in the address is not one for https.
func sameRepository(from, to string, login bool) bool {
	name := func(address string) string { return strings.TrimSuffix(strings.TrimSuffix(address, "/"), ".git") }
	from, to = name(from), name(to)
	path, ok := strings.CutPrefix(from, "http://")
	return from == to || ok && !login && to == "https://"+path
}
