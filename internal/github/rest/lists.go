package rest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
)

// PullRequest reads pull request n with REST.
func (c *Conn) PullRequest(ctx context.Context, r remoteurl.Repo, n int) (pullrequest.PullRequest, error) {
	var w wirePull
	a, err := c.Get(ctx, c.Endpoint(r, nil, "pulls", strconv.Itoa(n)), &w)
	if err != nil {
		return pullrequest.PullRequest{}, err
	}
	if w.Number != n {
		return pullrequest.PullRequest{}, Malformed("pull request " + strconv.Itoa(n))
	}
	return w.model(a.asOf), nil
}

// Cursor is a position in a list of pull requests. Its zero value is the start.
type Cursor struct {
	// After is the number of the last pull request in the previous answer.
	After int
	// Offset is the number of pull requests up to there at that time; a hint for the search.
	Offset int
}

// Page is a part of a list of pull requests.
type Page struct {
	PullRequests []pullrequest.PullRequest
	// Next is the cursor of the next page; nil at the end.
	Next *Cursor
	// AsOf is when GitHub confirmed this: the earliest of its parts.
	AsOf time.Time
}

// PullRequests lists up to limit pull requests (1 to 100), newest first, from a cursor on. While
// others open and close pull requests between the calls, none that stays in the list appears twice
// or is missing. One call usually takes one request.
func (c *Conn) PullRequests(ctx context.Context, r remoteurl.Repo, state pullrequest.State, from Cursor, limit int) (Page, error) {
	limit = min(max(limit, 1), PerPage)
	l := listing{conn: c, repo: r, state: state}
	l.size, l.first = window(from, limit)

	if err := l.append(ctx); err != nil {
		return Page{}, err
	}
	// If some before the cursor were closed, the rest moved forward, so the next ones may be on a
	// page before the expected one.
	for l.first > 1 && !l.reaches(from.After) {
		if err := l.extend(ctx, l.prepend); err != nil {
			return Page{}, err
		}
	}
	for l.more && l.left(from.After) < limit {
		if err := l.extend(ctx, l.append); err != nil {
			return Page{}, err
		}
	}
	return l.page(from, limit), nil
}

// window returns the size of the pages, and the number of the page, that most likely contain the
// last returned pull request and the limit next ones: the smallest size for which one page is
// enough; otherwise, two pages are necessary. GitHub has only pages, no offsets.
func window(from Cursor, limit int) (size, number int) {
	if from.After == 0 || from.Offset <= 0 {
		return limit, 1
	}
	first, last := from.Offset-1, from.Offset-1+limit
	for size := limit + 1; size <= PerPage; size++ {
		if first/size == last/size {
			return size, first/size + 1
		}
	}
	return PerPage, first/PerPage + 1
}

// listing is a run of consecutive pages of one list.
type listing struct {
	conn  *Conn
	repo  remoteurl.Repo
	state pullrequest.State
	size  int
	first int // number of the first page of the run
	count int // pages in the run
	pulls []pullrequest.PullRequest
	more  bool // there is a page after the run
	asOf  time.Time
}

func (l *listing) read(ctx context.Context, number int) ([]pullrequest.PullRequest, bool, error) {
	query := page(number, l.size)
	query.Set("state", string(l.state))
	query.Set("sort", "created")
	query.Set("direction", "desc")
	var w []wirePull
	a, err := l.conn.Get(ctx, l.conn.Endpoint(l.repo, query, "pulls"), &w)
	if err != nil {
		return nil, false, err
	}
	l.asOf = Earlier(l.asOf, a.asOf)
	pulls := make([]pullrequest.PullRequest, 0, len(w))
	for _, p := range w {
		if p.Number == 0 {
			return nil, false, Malformed("a list of pull requests")
		}
		pulls = append(pulls, p.model(a.asOf))
	}
	return pulls, a.more, nil
}

// extend reads one more page. A server whose pages never come to an end of the list, or continue
// before its beginning, is refused.
func (l *listing) extend(ctx context.Context, read func(context.Context) error) error {
	if l.count*l.size >= MaxPages*PerPage {
		return Malformed("a list of pull requests in their order")
	}
	return read(ctx)
}

func (l *listing) append(ctx context.Context) error {
	pulls, more, err := l.read(ctx, l.first+l.count)
	if err != nil {
		return err
	}
	l.pulls = append(l.pulls, pulls...)
	l.count++
	l.more = more && len(pulls) > 0
	return nil
}

func (l *listing) prepend(ctx context.Context) error {
	pulls, _, err := l.read(ctx, l.first-1)
	if err != nil {
		return err
	}
	l.pulls = append(pulls, l.pulls...)
	l.first--
	l.count++
	return nil
}

// reaches reports whether the run begins at or before the pull request after.
func (l *listing) reaches(after int) bool {
	return len(l.pulls) > 0 && l.pulls[0].Number >= after
}

// left counts the pull requests of the run after the cursor.
func (l *listing) left(after int) int {
	n := 0
	for _, p := range l.pulls {
		if behind(p, after) {
			n++
		}
	}
	return n
}

// behind reports whether p comes after the one with the number after; numbers decrease through the
// list, because they increase with the time of creation.
func behind(p pullrequest.PullRequest, after int) bool { return after == 0 || p.Number < after }

func (l *listing) page(from Cursor, limit int) Page {
	out := Page{PullRequests: []pullrequest.PullRequest{}, AsOf: l.asOf}
	seen := map[int]bool{}
	for i, p := range l.pulls {
		if !behind(p, from.After) || seen[p.Number] {
			continue
		}
		if len(out.PullRequests) == limit {
			break
		}
		seen[p.Number] = true
		out.PullRequests = append(out.PullRequests, p)
		out.Next = &Cursor{After: p.Number, Offset: (l.first-1)*l.size + i + 1}
	}
	if out.Next != nil && !l.more && !slices.ContainsFunc(l.pulls, func(p pullrequest.PullRequest) bool { return p.Number < out.Next.After }) {
		out.Next = nil
	}
	return out
}
