// Package openpulls updates the list of a repository's open pull requests, from which every surface
// reads the records of stacks without network.
//
// Use a [Lists]. [Lists.Refresh] queries GitHub; the caller defines the maximum age of the list.
package openpulls

import (
	"context"
	"reflect"
	"time"

	"github.com/copse-dev/copse/internal/branch/source/pulllist"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/session"
)

// Pulls ask GitHub.
type Pulls interface {
	// Opened returns the open pull requests of the repository that origin names, newest first.
	Opened(ctx context.Context) (remoteurl.Repo, []pullrequest.PullRequest, error)
}

// Lists are the lists of one session's repository.
type Lists struct {
	Session *session.Session
	Pulls   Pulls
	Dir     pulllist.Dir
	Now     func() time.Time
}

// Refresh requests the open pull requests, unless the list is younger than age, and reports whether
// it has changed.
func (l Lists) Refresh(ctx context.Context, age time.Duration) (changed bool, err error) {
	repo, err := l.Session.Repo(ctx)
	if err != nil || l.Dir == "" {
		return false, err
	}
	before, err := l.Dir.Read(ctx, repo)
	// A list from the future is from before the clock was corrected.
	if old := l.Now().Sub(before.AsOf); err == nil && old < age && old > -time.Minute {
		return false, nil
	}
	at, found, err := l.Pulls.Opened(ctx)
	if err != nil {
		return false, err
	}
	list := pulllist.List{Repository: at.Host + "/" + at.String(), AsOf: l.Now().UTC().Truncate(time.Second)}
	for _, pr := range found {
		if pr.Fork != "" {
			continue
		}
		p := pulllist.Pull{Number: uint32(pr.Number), Head: pr.Head, Base: pr.Base} //nolint:gosec // GitHub counts from 1
		if pr.Stack != nil {
			p.Stack = &pulllist.Stack{ID: pr.Stack.ID, Position: pr.Stack.Position, Base: pr.Stack.Base}
		}
		list.Pulls = append(list.Pulls, p)
	}
	if err := l.Dir.Write(ctx, repo, list); err != nil {
		return false, err
	}
	return !reflect.DeepEqual(before.Pulls, list.Pulls), nil
}
