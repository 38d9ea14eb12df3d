// Package joblog reads the end of the logs of failing jobs of GitHub Actions.
//
// Use [New] and [Reader.Add]. The store of logs gets no credentials, and at most the end of a log is
// read.
package joblog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/remote"
)

const (
	// maxLog is the size of the end of a job's log to read.
	maxLog = 64 << 10
	// maxLogs is the maximum number of logs for one status.
	maxLogs = 3
	// maxStore limits how much copse reads and discards from a log store without ranges.
	maxStore = 32 << 20
)

// Reader reads the logs of jobs.
type Reader struct {
	conn *rest.Conn
	// store has no credentials: the address of a log is sufficient.
	store *http.Client
}

// New returns a reader with a client for the store of logs, which GitHub keeps elsewhere.
func New(conn *rest.Conn, base http.RoundTripper, timeout time.Duration) *Reader {
	secure := conn.API.Scheme == "https"
	return &Reader{conn: conn, store: &http.Client{
		Transport: remote.NewTransport(remote.Options{
			Base: base,
			Allow: func(r *http.Request) bool {
				return r.Method == http.MethodGet && r.Body == nil && (r.URL.Scheme == "https" || !secure && r.URL.Scheme == "http") &&
					r.Header.Get("Authorization") == ""
			},
			Timeout: timeout,
			MaxBody: maxStore,
		}),
	}}
}

// Add adds to the first failing checks that are jobs of GitHub Actions the end of the failing
// step's log, and to Notes which logs are missing, and why.
func (l *Reader) Add(ctx context.Context, r remoteurl.Repo, s *pullrequest.Status) {
	s.Checks = append([]pullrequest.Check(nil), s.Checks...)
	var reading sync.WaitGroup
	notes := make([]string, len(s.Checks))
	read, more := 0, 0
	for i := range s.Checks {
		check := &s.Checks[i]
		switch {
		case !check.Failing():
			continue
		case check.Job == 0:
			notes[i] = fmt.Sprintf("no log of %s: it is not a job of GitHub Actions; see its url", foreign.Mention(check.Name))
			continue
		case read == maxLogs:
			more++
			continue
		}
		read++
		reading.Go(func() {
			found, err := l.jobLog(ctx, r, check.Job)
			if err != nil {
				notes[i] = fmt.Sprintf("no log of %s: %s", foreign.Mention(check.Name), reasonOf(err))
				return
			}
			check.Log = &found
		})
	}
	reading.Wait()
	s.Notes = append([]string(nil), s.Notes...)
	for _, note := range notes {
		if note != "" {
			s.Notes = append(s.Notes, note)
		}
	}
	if more > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("copse did not read the logs of %s", cleantext.Count(more, "further failing check")))
	}
}

// reasonOf returns the reason why a log cannot be read, in words that follow a colon.
func reasonOf(err error) string {
	var e *remote.Error
	switch {
	case errors.Is(err, remote.ErrNotCached):
		return "not fetched yet"
	case !errors.As(err, &e):
		return remote.Clean(err.Error())
	case e.Kind == remote.NotFound || e.Status == http.StatusGone:
		return "GitHub does not have it, or no longer"
	}
	return e.Detail
}

// wireJob is a job of GitHub Actions.
type wireJob struct {
	Steps []struct {
		Name       string  `json:"name"`
		Conclusion *string `json:"conclusion"`
		Started    *string `json:"started_at"`
		Completed  *string `json:"completed_at"`
	} `json:"steps"`
}

// failed returns the first failing step: its name, and its start and end.
func (w wireJob) failed() (name string, from, to time.Time) {
	for _, s := range w.Steps {
		if s.Conclusion == nil || s.Started == nil || s.Completed == nil {
			continue
		}
		switch *s.Conclusion {
		case "failure", "timed_out", "cancelled":
			from, err := time.Parse(time.RFC3339, *s.Started)
			to, err2 := time.Parse(time.RFC3339, *s.Completed)
			if err != nil || err2 != nil {
				return cleantext.Line(s.Name), time.Time{}, time.Time{}
			}
			// Steps have whole seconds; lines of the log are more precise.
			return cleantext.Line(s.Name), from, to.Add(time.Second)
		}
	}
	return "", time.Time{}, time.Time{}
}

// jobLog reads the end of the log of a job's failing step.
func (l *Reader) jobLog(ctx context.Context, r remoteurl.Repo, job int64) (pullrequest.Log, error) {
	number := strconv.FormatInt(job, 10)
	var w wireJob
	if _, err := l.conn.Get(ctx, l.conn.Endpoint(r, nil, "actions", "jobs", number), &w); err != nil {
		return pullrequest.Log{}, err
	}
	at, err := l.logAddress(ctx, l.conn.Endpoint(r, nil, "actions", "jobs", number, "logs"))
	if err != nil {
		return pullrequest.Log{}, err
	}
	tail, err := l.tail(ctx, at)
	if err != nil {
		return pullrequest.Log{}, err
	}
	step, from, to := w.failed()
	return pullrequest.Log{Step: step, Text: stepLog(tail, from, to)}, nil
}

// logAddress asks the API for the address of a log: it answers with a redirect to a store, whose
// address grants access to the log.
func (l *Reader) logAddress(ctx context.Context, u *url.URL) (*url.URL, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("find log: %w", err)
	}
	req.Header = l.conn.Header.Clone()
	resp, err := l.conn.HTTP.Do(req)
	if err != nil {
		return nil, remote.TransportError(rest.Service, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 3 {
		if err := remote.CheckResponse(rest.Service, l.conn.Source, resp); err != nil {
			return nil, err
		}
		return nil, rest.Malformed("the address of a log")
	}
	at, err := resp.Location()
	if err != nil || at.User != nil {
		return nil, rest.Malformed("the address of a log")
	}
	return at, nil
}

// tail reads the last maxLog bytes at an address, from the start of a line. It requests no more, in
// one of the two ways that stores support. A store without ranges sends everything, of which tail
// keeps only the end.
func (l *Reader) tail(ctx context.Context, at *url.URL) ([]byte, error) {
	resp, err := l.readLog(ctx, at, "bytes=-"+strconv.Itoa(maxLog))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK && resp.ContentLength > maxLog {
		_ = resp.Body.Close()
		if resp, err = l.readLog(ctx, at, fmt.Sprintf("bytes=%d-", resp.ContentLength-maxLog)); err != nil {
			return nil, err
		}
	}
	defer resp.Body.Close()
	kept, err := lastBytes(resp.Body, maxLog)
	if err != nil {
		return nil, remote.TransportError(rest.Service, err)
	}
	return kept, nil
}

func (l *Reader) readLog(ctx context.Context, at *url.URL, span string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	req.Header.Set("Range", span)
	req.Header.Set("User-Agent", l.conn.Header.Get("User-Agent"))
	resp, err := l.store.Do(req)
	if err != nil {
		return nil, remote.TransportError(rest.Service, err)
	}
	if resp.StatusCode == http.StatusRequestedRangeNotSatisfiable { // an empty log
		_ = resp.Body.Close()
		resp.Body = http.NoBody
		return resp, nil
	}
	if err := remote.CheckResponse(rest.Service, "", resp); err != nil {
		return nil, &remote.Error{Service: rest.Service, Status: resp.StatusCode, Detail: "the log store returned HTTP " + strconv.Itoa(resp.StatusCode)}
	}
	return resp, nil
}

// lastBytes reads to the end and returns the last n bytes; if there are more, it omits the
// incomplete first line, or marks it if there is no other.
func lastBytes(r io.Reader, n int) ([]byte, error) {
	var kept []byte
	chunk := make([]byte, n)
	cut := false
	for {
		got, err := r.Read(chunk)
		kept = append(kept, chunk[:got]...)
		if over := len(kept) - n; over > 0 {
			kept, cut = append(kept[:0], kept[over:]...), true
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if cut || len(kept) == n {
		if _, rest, ok := bytes.Cut(kept, []byte("\n")); ok && len(rest) > 0 {
			kept = rest
		} else {
			// A part of a secret is recognized next to it, but not behind the rest of an escape sequence.
			kept = append([]byte("…"), kept[cleantext.Rest(string(kept)):]...)
		}
	}
	return kept, nil
}

// stepLog returns the lines of a job's log that a step wrote between two times, up to its last
// error, without their times. Without times, it returns all lines.
func stepLog(log []byte, from, to time.Time) string {
	var all, within []string
	lastError := 0
	inside := from.IsZero()
	for line := range strings.SplitSeq(strings.TrimPrefix(string(log), "\ufeff"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		stamp, text, ok := strings.Cut(line, " ")
		if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil && (ok || text == "") {
			inside = from.IsZero() || !at.Before(from) && at.Before(to)
			line = text
		}
		all = append(all, line)
		if inside {
			within = append(within, line)
			if strings.HasPrefix(line, "##[error]") {
				lastError = len(within)
			}
		}
	}
	if len(within) == 0 {
		within = all
	}
	if lastError > 0 {
		within = within[:lastError]
	}
	return strings.Trim(cleantext.Block(strings.Join(within, "\n")), "\n")
}
