package sidebranch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/backoff"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/git/override"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/git/sidebranch/login"
	"github.com/copse-dev/copse/internal/git/sidebranch/refusal"
	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/xec"
)

// Remote is a remote with which a branch is exchanged: addresses in git's form.
type Remote struct {
	Fetch string
	Push  string // empty if it is the same
}

// UnreachableError reports that a remote did not answer, or refused.
type UnreachableError struct {
	Doing string // "fetch from"
	Err   error
}

func (e *UnreachableError) Error() string {
	return inAddress.Get().ReplaceAllString(fmt.Sprintf("cannot %s the remote: %s", e.Doing, e.Err), "://")
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// The supported schemes of addresses.
var (
	scheme    = lazyregexp.New(`^([A-Za-z][A-Za-z0-9+.-]*)://`)
	inAddress = lazyregexp.New(`://[^/@\s]*@`)
	scp       = lazyregexp.New(`^(\[[^]/\\]*\]|[^/\\:]+):`)
	helper    = lazyregexp.New(`^[A-Za-z0-9+.-]*::`)
)

// check refuses an address that could name a program, and reports whether it is that
// of a directory on this machine.
func check(address string) (local bool, err error) {
	refused := errors.New("its address has an unsupported scheme; use https, ssh, or a path")
	switch m := scheme.Get().FindStringSubmatch(address); {
	case address == "":
		return false, errors.New("it has no address")
	case strings.HasPrefix(address, "-"), strings.ContainsAny(address, "\n\x00"), helper.Get().MatchString(address):
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
	case scp.Get().MatchString(address):
		return false, nil
	}
	return true, nil
}

// usual matches the usual addresses of a repository on a server, with its host and its path.
var usual = lazyregexp.New(`^(?:https://(?:[\w.~%:-]*@)?([A-Za-z0-9.-]+)/|ssh://git@([A-Za-z0-9.-]+)/|git@([A-Za-z0-9.-]+):/?)([\w./~-]+)$`)

// Destination returns a text that two remotes share only if they lead to the same repositories. The
// usual addresses of a repository over https and ssh have the same text, whatever the login for https is.
func (r Remote) Destination() string {
	to := func(address string) string {
		m := usual.Get().FindStringSubmatch(address)
		if m == nil {
			return address
		}
		return "https or ssh://" + strings.ToLower(m[1]+m[2]+m[3]) + "/" + strings.TrimSuffix(strings.TrimSuffix(m[4], "/"), ".git")
	}
	return to(r.Fetch) + "\n" + to(cmp.Or(r.Push, r.Fetch))
}

// receivePack is the program at the other side of a push.
const receivePack = "receive-pack"

// side is the other side of a transfer.
type side struct {
	address  string
	settings []string // options of git itself
	options  []string
	env      []string
	guards   []program.Guard
	login    bool // whether the address has a login
	by       refusal.Transport
}

// harmless are settings for git at the other side besides those of every repository: it does
// not check out what it receives, which would run filters, nor does it read lists of objects,
// which it quotes.
var harmless = []string{
	"core.fsync=committed,reference", "core.bigFileThreshold=16m",
	"core.alternateRefsCommand=true", "receive.autogc=false", "receive.denyCurrentBranch=refuse", "receive.denyDeleteCurrent=refuse",
	"receive.fsckObjects=false", "transfer.fsckObjects=false", "safe.bareRepository=all",
}

// side returns the other side of a transfer with an address. On this machine git runs without
// the programs of the other repository; elsewhere it is not ours to say.
func (b *Branch) side(ctx context.Context, address, option, name string) (side, error) {
	rules, err := b.rewritings(ctx)
	if err != nil {
		return side{}, err
	}
	// What is checked is what git uses.
	address = rewritten(rules, address, name == receivePack)
	local, err := check(address)
	if err != nil {
		return side{}, err
	}
	if !local {
		by := refusal.OverSSH
		if m := scheme.Get().FindString(address); m != "" {
			address = strings.ToLower(m) + address[len(m):] // git allows protocols by their lower case
			if !strings.EqualFold(m, "ssh://") {
				by = refusal.OverHTTP
			}
		}
		bare, options, env, err := login.Separate(address)
		if err != nil {
			return side{}, err
		}
		asking, answer := b.askpass(ctx)
		if to := b.named[bare]; sameRepository(bare, to, len(env) > 0) {
			bare = to
		}
		bare, asIs, err := asIs(rules, bare, name == receivePack)
		if err != nil {
			return side{}, err
		}
		return side{
			address: bare, settings: slices.Concat(b.redirects(ctx, bare), options, asking, asIs), env: slices.Concat(env, answer), login: len(env) > 0, by: by,
		}, nil
	}
	other, err := b.other(ctx, address)
	if err != nil {
		return side{}, err
	}
	settings, err := other.Guard().Settings(ctx)
	if err != nil {
		return side{}, err
	}
	if name == receivePack {
		if err := other.Writable(b.ref); err != nil {
			return side{}, err
		}
	}
	var line strings.Builder
	line.WriteString("GIT_ALLOW_PROTOCOL=: GIT_NO_LAZY_FETCH=1 git") // git has a shell run it
	for _, s := range slices.Concat(override.Fixed(), harmless, settings) {
		line.WriteString(" -c '" + strings.ReplaceAll(s, "'", `'\''`) + "'")
	}
	dir, asIs, err := asIs(rules, other.GitDir(), name == receivePack)
	if err != nil {
		return side{}, err
	}
	return side{
		address: dir, settings: asIs, options: []string{option + "=" + line.String() + " " + name}, guards: []program.Guard{other.Guard()},
	}, nil
}

// other returns the repository at a local address. Git looks in the same places, but is told
// which one was found: it must not find another one, with other programs.
func (b *Branch) other(ctx context.Context, address string) (*git.Repo, error) {
	dir := address
	if m := scheme.Get().FindString(address); m != "" {
		path, err := url.PathUnescape(address[len(m):])
		if err != nil {
			return nil, errNoRepository
		}
		dir = filepath.FromSlash(path)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(b.repo.dir(), dir)
	}
	for _, suffix := range []string{"", ".git"} {
		repo, err := git.At(ctx, dir+suffix, git.Options{Env: b.repo.Env})
		if errors.Is(err, git.ErrNotRepository) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(filepath.Join(repo.GitDir(), ".git")); err == nil {
			return nil, errors.New("there is a .git inside its git directory; remove it")
		}
		return repo, nil
	}
	return nil, errNoRepository
}

var errNoRepository = errors.New("there is no git repository at its address")

// Fetch brings the branch of a remote here and returns its commit, empty if the remote
// has none. It writes objects and nothing else. Errors of the remote are an
// [*UnreachableError].
func (b *Branch) Fetch(ctx context.Context, from Remote) (Commit, error) {
	other, err := b.side(ctx, from.Fetch, "--upload-pack", "upload-pack")
	if err != nil {
		return "", &UnreachableError{"reach", err}
	}
	tip, err := b.Tip(ctx)
	if err != nil {
		return "", err
	}
	if _, err := b.Intact(ctx, tip); err != nil {
		return "", err
	}
	for range maxAnnounced {
		theirs, err := b.announced(ctx, &other)
		if err != nil || theirs == "" {
			return "", err
		}
		here, err := b.complete(ctx, theirs, tip)
		if err != nil || here {
			return theirs, err
		}
		if err := b.receive(ctx, other, tip); err != nil {
			return "", err
		}
		here, err = b.complete(ctx, theirs, tip)
		if err != nil || here {
			return theirs, err
		}
		// The branch moved on in between.
	}
	return "", &UnreachableError{"fetch from", fmt.Errorf("%d times, it did not send the commit that it announced; try again", maxAnnounced)}
}

// listing returns the arguments with which git lists the branch at the other side.
func (b *Branch) listing(other side) []string {
	return slices.Concat(other.settings, []string{"ls-remote", "--quiet"}, other.options, []string{"--", other.address, b.ref})
}

// announced returns the commit of the branch at the other side, empty if there is none.
func (b *Branch) announced(ctx context.Context, other *side) (Commit, error) {
	var out []byte
	if err := b.following(ctx, other, func(at side) (err error) {
		out, err = b.run(ctx, transfer, nil, b.listing(at), at)
		return err
	}); err != nil {
		return "", &UnreachableError{"reach", err}
	}
	var theirs Commit
	for line := range strings.Lines(string(out)) {
		hash, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if ref == b.ref && objects.IsHash(hash) {
			theirs = Commit(hash)
		}
	}
	return theirs, nil
}

// receive fetches the branch of the other side.
func (b *Branch) receive(ctx context.Context, other side, tip Commit) error {
	if err := b.repo.Writable(b.ref); err != nil {
		return err
	}
	// What the remote need not send again. A clone can have a commit without its files.
	if b.Has(ctx, tip) {
		if _, err := b.git(ctx, nil, "update-ref", b.ref, string(tip)); err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
	}
	args := slices.Concat(other.settings, []string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules",
		"--no-show-forced-updates", "--refmap=",
	}, other.options, []string{"--", other.address, b.ref})
	res, err := b.result(ctx, transfer, nil, args, other)
	if err == nil && says(string(res.Stderr), "shallow roots are not allowed", "shallow update not allowed") {
		err = errors.New("it is a shallow clone, without the history of the branch; run `git fetch --unshallow` there, or sync with the remote of that clone")
	}
	if err != nil {
		return &UnreachableError{"fetch from", err}
	}
	return nil
}

// Has reports whether a commit is here.
func (b *Branch) Has(ctx context.Context, c Commit) bool {
	if !objects.IsHash(string(c)) {
		return false
	}
	_, err := b.git(ctx, nil, "rev-list", "--objects", "--quiet", "--max-count=1", string(c))
	return err == nil
}

const (
	// maxLocked limits how often a push that found the remote's branch locked is tried.
	maxLocked = 4
	// maxOutdated limits how often a remote can refuse a push because its branch is not at the commit
	// that it announces. A copy of the remote that lags behind does so for a moment.
	maxOutdated = 8
)

// Push moves the branch of a remote to a commit. If it is not at from there, the error
// is ErrMoved, unless the remote says so of the same commit again and again; other errors of the
// remote are an [*UnreachableError].
func (b *Branch) Push(ctx context.Context, to Remote, commit, from Commit) error {
	address := cmp.Or(to.Push, to.Fetch)
	other, err := b.side(ctx, address, "--"+receivePack, receivePack)
	if err != nil {
		return &UnreachableError{"push to", err}
	}
	const shortest, longest = 100 * time.Millisecond, 400 * time.Millisecond
	pauses := backoff.Start(shortest, longest)
	for attempt := 1; ; attempt++ {
		said, err := b.push(ctx, &other, commit, from)
		if err == nil {
			return nil
		}
		if says(said, "stale info", "fetch first", "non-fast-forward") {
			return b.moved(from)
		}
		// Somebody is moving the branch, or a process that was killed there has locked it for good.
		if !says(said, "cannot lock ref", "failed to update ref", "reference already exists", "incorrect old value") {
			return &UnreachableError{"push to", err}
		}
		if reading, failed := b.side(ctx, address, "--upload-pack", "upload-pack"); failed == nil {
			if theirs, failed := b.announced(ctx, &reading); failed == nil && theirs != from {
				return ErrMoved
			}
		}
		if attempt == maxLocked {
			return &UnreachableError{"push to", err}
		}
		if err := pauses.Pause(ctx, backoff.Unlimited); err != nil {
			return err
		}
	}
}

// moved returns the error for a remote whose branch is not at from.
func (b *Branch) moved(from Commit) error {
	if from != b.outdated {
		b.outdated, b.refusals = from, 0
	}
	if b.refusals++; b.refusals < maxOutdated {
		return ErrMoved
	}
	return &UnreachableError{"push to", fmt.Errorf("%d times, its branch was not at the commit that it announces; check whether it receives and sends from the same repository", maxOutdated)}
}

func (b *Branch) push(ctx context.Context, other *side, commit, from Commit) (said string, err error) {
	err = b.following(ctx, other, func(at side) error {
		args := slices.Concat(at.settings, []string{
			"push", "--quiet", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
			"--force-with-lease=" + b.ref + ":" + string(from),
		}, at.options, []string{"--", at.address, string(commit) + ":" + b.ref})
		out, err := b.run(ctx, transfer, nil, args, at)
		said = string(out)
		if exit, ok := errors.AsType[*xec.ExitError](err); ok {
			said += exit.Stderr
		}
		return err
	})
	return said, err
}

// says reports whether git has printed one of the signs.
func says(said string, signs ...string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(said, sign) })
}
