package github

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

// stayAt follows redirects within the API's host and leaves others to the caller.
func stayAt(api *url.URL) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, _ []*http.Request) error {
		if isLogPath(r.Response.Request.URL.Path) && (r.URL.Host != api.Host || r.URL.Scheme != api.Scheme || !isLogPath(r.URL.Path)) {
			return http.ErrUseLastResponse
		}
		return nil
	}
}

// isLogPath reports whether a path of the API is that of a job's log.
func isLogPath(path string) bool {
	return strings.Contains(path, "/actions/jobs/") && strings.HasSuffix(path, "/logs")
}

// newLogClient returns the client for the store of logs, which GitHub keeps elsewhere. It has no
// credentials: the address of a log is sufficient.
func newLogClient(api *url.URL, o Options) *http.Client {
	secure := api.Scheme == "https"
	return &http.Client{
		Transport: remote.NewTransport(remote.Options{
			Base: o.Base,
			Allow: func(r *http.Request) bool {
				return r.Method == http.MethodGet && r.Body == nil && (r.URL.Scheme == "https" || !secure && r.URL.Scheme == "http") &&
					r.Header.Get("Authorization") == ""
			},
			Timeout: o.Timeout,
			MaxBody: maxStore,
		}),
	}
}

// Logs adds to the first failing checks that are jobs of GitHub Actions the end of the failing
// step's log, and to Notes which logs are missing, and why.
func (c *Client) Logs(ctx context.Context, r Repo, s *Status) {
	s.Checks = append([]Check(nil), s.Checks...)
	var reading sync.WaitGroup
	notes := make([]string, len(s.Checks))
	read, more := 0, 0
	for i := range s.Checks {
		check := &s.Checks[i]
		switch {
		case !check.Failing():
			continue
		case check.Job == 0:
			notes[i] = fmt.Sprintf("no log of %s: it is not a job of GitHub Actions; see its url", check.Name)
			continue
		case read == maxLogs:
			more++
			continue
		}
		read++
		reading.Go(func() {
			found, err := c.jobLog(ctx, r, check.Job)
			if err != nil {
				notes[i] = fmt.Sprintf("no log of %s: %s", check.Name, reasonOf(err))
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
		s.Notes = append(s.Notes, fmt.Sprintf("logs of %s are not read", number(more, "further failing check")))
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
func (c *Client) jobLog(ctx context.Context, r Repo, job int64) (Log, error) {
	number := strconv.FormatInt(job, 10)
	var w wireJob
	if _, err := c.get(ctx, c.endpoint(r, nil, "actions", "jobs", number), &w); err != nil {
		return Log{}, err
	}
	at, err := c.logAddress(ctx, c.endpoint(r, nil, "actions", "jobs", number, "logs"))
	if err != nil {
		return Log{}, err
	}
	tail, err := c.tail(ctx, at)
	if err != nil {
		return Log{}, err
	}
	step, from, to := w.failed()
	return Log{Step: step, Text: stepLog(tail, from, to)}, nil
}

// logAddress asks the API for the address of a log: it answers with a redirect to a store, whose
// address grants access to the log.
func (c *Client) logAddress(ctx context.Context, u *url.URL) (*url.URL, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("find log: %w", err)
	}
	req.Header = c.header.Clone()
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, remote.TransportError(service, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 3 {
		if err := remote.CheckResponse(service, c.source, resp); err != nil {
			return nil, err
		}
		return nil, malformed("the address of a log")
	}
	at, err := resp.Location()
	if err != nil || at.User != nil {
		return nil, malformed("the address of a log")
	}
	return at, nil
}

// tail reads the last maxLog bytes at an address, from the start of a line. It requests no more, in
// one of the two ways that stores support. A store without ranges sends everything, of which tail
// keeps only the end.
func (c *Client) tail(ctx context.Context, at *url.URL) ([]byte, error) {
	resp, err := c.readLog(ctx, at, "bytes=-"+strconv.Itoa(maxLog))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK && resp.ContentLength > maxLog {
		_ = resp.Body.Close()
		if resp, err = c.readLog(ctx, at, fmt.Sprintf("bytes=%d-", resp.ContentLength-maxLog)); err != nil {
			return nil, err
		}
	}
	defer resp.Body.Close()
	kept, err := lastBytes(resp.Body, maxLog)
	if err != nil {
		return nil, remote.TransportError(service, err)
	}
	return kept, nil
}

func (c *Client) readLog(ctx context.Context, at *url.URL, span string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	req.Header.Set("Range", span)
	req.Header.Set("User-Agent", c.header.Get("User-Agent"))
	resp, err := c.logs.Do(req)
	if err != nil {
		return nil, remote.TransportError(service, err)
	}
	if resp.StatusCode == http.StatusRequestedRangeNotSatisfiable { // an empty log
		_ = resp.Body.Close()
		resp.Body = http.NoBody
		return resp, nil
	}
	if err := remote.CheckResponse(service, "", resp); err != nil {
		return nil, &remote.Error{Service: service, Status: resp.StatusCode, Detail: "the log store answered HTTP " + strconv.Itoa(resp.StatusCode)}
	}
	return resp, nil
}

// lastBytes reads to the end and returns the last n bytes; if there are more, it omits the
// incomplete first line.
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
		if _, rest, ok := bytes.Cut(kept, []byte("\n")); ok {
			kept = rest
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
