package remote

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/jsonfile"
)

const (
	maxErrorBody = 64 << 10
	// unstatedPause is GitHub's recommended pause if a limit states no time.
	unstatedPause = time.Minute

	webPage = "returned a web page, not JSON"
)

// CheckResponse returns nil for a 2xx, and for anything else the corresponding [*Error], after
// reading and closing the body. credential is the origin of the credentials.
func CheckResponse(service, credential string, resp *http.Response) error {
	if resp.StatusCode/100 == 2 {
		return nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // the available part is enough
	said := parseProblem(body)
	e := &Error{
		Service:    service,
		Status:     resp.StatusCode,
		Credential: credential,
		Detail:     said.detail(resp, body),
	}
	switch resp.StatusCode {
	case http.StatusNotFound:
		e.Kind = NotFound
	case http.StatusUnauthorized:
		e.Kind = Refused
	case http.StatusTooManyRequests:
		e.Kind = RateLimited
		e.RetryAfter = RetryAfter(resp)
	case http.StatusForbidden:
		e.Kind = Refused
		limited := resp.Header.Get("Retry-After") != "" || resp.Header.Get("X-RateLimit-Remaining") == "0"
		// GitHub's limit on bursts may come without any header; its documentation link
		// distinguishes it from a refusal.
		burst := strings.Contains(string(said.Documentation), "rate-limit")
		if limited || burst {
			e.Kind = RateLimited
			e.RetryAfter = RetryAfter(resp)
		}
		if burst && e.RetryAfter == 0 {
			e.RetryAfter = unstatedPause
		}
	}
	return e
}

// ReadJSON reads the body of a successful answer to its end, at which the cache stores it, closes
// it, and decodes it into v.
func ReadJSON(service string, resp *http.Response, v any) error {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return TransportError(service, err)
	}
	return DecodeJSON(service, resp, body, v)
}

// The maximum size of an answer's JSON. The largest pages of GitHub and Jira have tens of thousands
// of values, and lists of a hundred; a description of Jira's maximum length has some thousand nodes.
const (
	maxValues  = 400_000
	maxLongest = 20_000
)

// DecodeJSON decodes the body of a successful answer into v.
func DecodeJSON(service string, resp *http.Response, body []byte, v any) error {
	if size := jsonfile.Measure(body); size.Values > maxValues || size.Longest > maxLongest {
		return &Error{Service: service, Detail: "returned more values than copse reads", Err: ErrTooLarge}
	}
	if err := json.Unmarshal(body, v); err != nil {
		detail := "returned something that is not the JSON it documents"
		if isWebPage(resp, body) {
			detail = webPage
		}
		return &Error{Service: service, Kind: Misdirected, Detail: detail, Err: err}
	}
	return nil
}

// longestWait is the maximum pause: no limit of these services lasts longer.
const longestWait = 24 * time.Hour

// RetryAfter returns how long to wait, at most a day.
func RetryAfter(resp *http.Response) time.Duration {
	return min(statedPause(resp), longestWait)
}

// statedPause reads how long to wait from Retry-After (seconds or a date), or else
// X-RateLimit-Reset (Unix seconds at GitHub, ISO 8601 at Jira). Dates are relative to the service's
// own, so a wrong local clock does no harm.
func statedPause(resp *http.Response) time.Duration {
	value := resp.Header.Get("Retry-After")
	if n, err := strconv.ParseInt(value, 10, 32); err == nil {
		return time.Duration(max(n, 0)) * time.Second
	}
	now := headerTime(resp, serviceDate)
	if now.IsZero() {
		now = AsOf(resp)
	}
	if now.IsZero() {
		return 0
	}
	if t, err := http.ParseTime(value); err == nil {
		return max(t.Sub(now), 0)
	}
	if left := resp.Header.Get("X-RateLimit-Remaining"); left != "" && left != "0" {
		return 0 // another limit was exceeded
	}
	reset := resp.Header.Get("X-RateLimit-Reset")
	if n, err := strconv.ParseInt(reset, 10, 64); err == nil {
		return max(time.Unix(n, 0).Sub(now), 0)
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, reset); err == nil {
			return max(t.Sub(now), 0)
		}
	}
	return 0
}

// problem is the content of an error body of GitHub and Jira.
type problem struct {
	Message       text            `json:"message"`
	Documentation text            `json:"documentation_url"`
	ErrorMessages json.RawMessage `json:"errorMessages"` // Jira: list of texts
	Errors        json.RawMessage `json:"errors"`        // Jira: field to text; GitHub: list of objects or texts
}

// text is a JSON string; anything else reads as empty.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
	}
	return nil
}

func parseProblem(body []byte) problem {
	var p problem
	if json.Unmarshal(body, &p) != nil {
		return problem{}
	}
	return p
}

func (p problem) detail(resp *http.Response, body []byte) string {
	var parts []string
	add := func(s string) {
		if s = clean(s); s != "" && !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	add(string(p.Message))
	var messages []text
	json.Unmarshal(p.ErrorMessages, &messages) //nolint:errcheck // ignore another form
	for _, m := range messages {
		add(string(m))
	}
	var fields map[string]text
	if json.Unmarshal(p.Errors, &fields) == nil {
		for _, name := range sortedKeys(fields) {
			add(name + ": " + string(fields[name]))
		}
	}
	var objects []struct {
		Field   text `json:"field"`
		Code    text `json:"code"`
		Message text `json:"message"`
	}
	if json.Unmarshal(p.Errors, &objects) == nil {
		for _, o := range objects {
			if o.Message != "" {
				add(string(o.Message))
			} else if o.Field != "" {
				add(string(o.Field) + ": " + string(o.Code))
			}
		}
	}
	if len(parts) == 0 {
		switch {
		case isWebPage(resp, body):
			return webPage
		case strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain"):
			add(cleantext.Head(string(body), maxErrorBody-1))
		}
	}
	status := http.StatusText(resp.StatusCode)
	switch text := clean(strings.Join(parts, "; ")); {
	case text != "" && text != status:
		return strconv.Quote(text) // somebody else's words
	case status != "":
		return status
	}
	return "gave no reason"
}

func sortedKeys(m map[string]text) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func isWebPage(resp *http.Response, body []byte) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind == "text/html" || kind == "application/xhtml+xml" ||
		strings.HasPrefix(strings.TrimSpace(string(body[:min(len(body), 64)])), "<")
}
