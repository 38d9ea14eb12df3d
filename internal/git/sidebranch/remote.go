package sidebranch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/xec"
)

// Remote is where a branch is exchanged: addresses as git knows them.
type Remote struct {
	Fetch string
	Push  string // empty if it is the same
}

// UnreachableError says that a remote did not answer, or refused.
type UnreachableError struct {
	Doing string // "fetch from"
	Err   error
}

func (e *UnreachableError) Error() string {
	said := e.Err.Error()
	if exit, ok := errors.AsType[*xec.ExitError](e.Err); ok && exit.Stderr != "" {
		// The first line has the reason; those behind it are advice for everybody.
		said, _, _ = strings.Cut(exit.Stderr, "\n")
		said = strings.TrimPrefix(said, "fatal: ")
	}
	return login().ReplaceAllString(fmt.Sprintf("cannot %s the remote: %s", e.Doing, said), "://")
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// The kinds of addresses that are used.
var (
	scheme = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`) })
	login  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/@\s]*@`) })
	scp    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^/\\:]+:`) })
)

// check refuses an address that could name a program, and reports whether it is that
// of a directory on this machine.
func check(address string) (local bool, err error) {
	refused := errors.New("its address is of a kind that is not used here; use https, ssh or a path")
	switch m := scheme().FindStringSubmatch(address); {
	case address == "":
		return false, errors.New("it has no address")
	case strings.HasPrefix(address, "-"), strings.ContainsAny(address, "\n\x00"), strings.Contains(address, "::"):
		return false, refused // ext::, fd:: and other helpers
	case m != nil:
		switch strings.ToLower(m[1]) {
		case "https", "http", "ssh":
			return false, nil
		case "file":
			return true, nil
		}
		return false, refused
	case filepath.VolumeName(address) != "":
		return true, nil
	case scp().MatchString(address):
		return false, nil
	}
	return true, nil
}

// otherSide are the arguments that say what runs at the other side. On this machine
// that is git without the hooks and programs of the other repository; elsewhere it is
// not ours to say.
func otherSide(address, option, program string) ([]string, error) {
	local, err := check(address)
	if err != nil || !local {
		return nil, err
	}
	return []string{option + "=git -c core.hooksPath=" + os.DevNull +
		" -c core.fsmonitor=false -c core.alternateRefsCommand=true -c receive.autogc=false -c gc.auto=0 " + program}, nil
}

// Fetch brings the branch of a remote here and returns its commit, empty if the remote
// has none. It writes objects and nothing else. Errors of the remote are an
// [*UnreachableError].
func (b *Branch) Fetch(ctx context.Context, from Remote) (Commit, error) {
	other, err := otherSide(from.Fetch, "--upload-pack", "upload-pack")
	if err != nil {
		return "", &UnreachableError{"fetch from", err}
	}
	args := append([]string{"ls-remote", "--quiet"}, other...)
	out, err := b.run(ctx, transferTime, nil, append(args, "--", from.Fetch, b.ref)...)
	if err != nil {
		return "", &UnreachableError{"look at", err}
	}
	var theirs Commit
	for line := range strings.Lines(string(out)) {
		hash, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if ref == b.ref && isHash(hash) {
			theirs = Commit(hash)
		}
	}
	if theirs == "" || b.Has(ctx, theirs) {
		return theirs, nil
	}
	// What the remote need not send again.
	if tip, err := b.Tip(ctx); err == nil && tip != "" {
		if _, err := b.git(ctx, nil, "update-ref", b.ref, string(tip)); err != nil {
			return "", fmt.Errorf("fetch: %w", err)
		}
	}
	args = append([]string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules",
		"--no-show-forced-updates", "--refmap=",
	}, other...)
	if _, err := b.run(ctx, transferTime, nil, append(args, "--", from.Fetch, b.ref)...); err != nil {
		return "", &UnreachableError{"fetch from", err}
	}
	if !b.Has(ctx, theirs) { // it moved on in between
		return b.Fetch(ctx, from)
	}
	return theirs, nil
}

// Has reports whether a commit is here.
func (b *Branch) Has(ctx context.Context, c Commit) bool {
	if !isHash(string(c)) {
		return false
	}
	_, err := b.git(ctx, nil, "rev-list", "--objects", "--quiet", "--max-count=1", string(c))
	return err == nil
}

// Push moves the branch of a remote to a commit. If it is not at from there, the error
// is ErrMoved; other errors of the remote are an [*UnreachableError].
func (b *Branch) Push(ctx context.Context, to Remote, commit, from Commit) error {
	address := to.Push
	if address == "" {
		address = to.Fetch
	}
	other, err := otherSide(address, "--receive-pack", "receive-pack")
	if err != nil {
		return &UnreachableError{"push to", err}
	}
	args := append([]string{
		"push", "--quiet", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
		"--force-with-lease=" + b.ref + ":" + string(from),
	}, other...)
	out, err := b.run(ctx, transferTime, nil, append(args, "--", address, string(commit)+":"+b.ref)...)
	if err == nil {
		return nil
	}
	said := string(out)
	if exit, ok := errors.AsType[*xec.ExitError](err); ok {
		said += exit.Stderr
	}
	for _, sign := range []string{"stale info", "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref", "reference already exists", "incorrect old value"} {
		if strings.Contains(said, sign) {
			return ErrMoved
		}
	}
	return &UnreachableError{"push to", err}
}
