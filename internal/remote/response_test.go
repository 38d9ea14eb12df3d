package remote_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/remote"
)

func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{"Date": {"Mon, 02 Nov 2026 10:00:00 GMT"}, "Content-Type": {"application/json; charset=utf-8"}}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func TestCheckResponse(t *testing.T) {
	t.Parallel()
	const html = "<!DOCTYPE html><html><body>Sign in</body></html>"
	for _, tt := range []struct {
		name  string
		resp  *http.Response
		kind  remote.Kind
		after time.Duration
		want  string
	}{
		{"404", answer(404, `{"message":"Not Found","documentation_url":"https://docs.github.com/rest","status":"404"}`), remote.NotFound, 0, "Not Found"},
		{"401", answer(401, `{"message":"Bad credentials"}`), remote.Refused, 0, `"Bad credentials"`},
		{"403", answer(403, `{"message":"Resource not accessible by personal access token"}`, "X-RateLimit-Remaining", "4999", "X-RateLimit-Reset", "1793700000"), remote.Refused, 0, `"Resource not accessible by personal access token"`},
		{"primary limit", answer(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1793613720"), remote.RateLimited, 2 * time.Minute, `"API rate limit exceeded"`},
		{"limit reset in the past", answer(403, `{}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1"), remote.RateLimited, 0, "Forbidden"},
		{"secondary limit", answer(403, `{"message":"Slow down"}`, "Retry-After", "60"), remote.RateLimited, time.Minute, `"Slow down"`},
		{"secondary limit without headers", answer(403, `{"message":"Slow down","documentation_url":"https://docs.github.com/en/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`), remote.RateLimited, time.Minute, `"Slow down"`},
		{"another limit than the hourly one", answer(429, ``, "X-RateLimit-Remaining", "4999", "X-RateLimit-Reset", "1793613720"), remote.RateLimited, 0, "Too Many Requests"},
		{"429", answer(429, ``, "Retry-After", "7"), remote.RateLimited, 7 * time.Second, "Too Many Requests"},
		{"429 with a date", answer(429, ``, "Retry-After", "Mon, 02 Nov 2026 10:00:30 GMT"), remote.RateLimited, 30 * time.Second, "Too Many Requests"},
		{"429 as Jira does", answer(429, `{"errorMessages":["Rate limit exceeded"]}`, "X-RateLimit-Reset", "2026-11-02T10:01Z"), remote.RateLimited, time.Minute, `"Rate limit exceeded"`},
		{"429 without a time", answer(429, ``), remote.RateLimited, 0, "Too Many Requests"},
		{"429 nonsense", answer(429, ``, "Retry-After", "soon", "X-RateLimit-Reset", "later"), remote.RateLimited, 0, "Too Many Requests"},
		{"429 negative", answer(429, ``, "Retry-After", "-5"), remote.RateLimited, 0, "Too Many Requests"},
		{"500", answer(500, ``), remote.Failed, 0, "Internal Server Error"},
		{"422 of GitHub", answer(422, `{"message":"Validation Failed","errors":[{"resource":"Search","field":"q","code":"missing"},{"message":"no"},"text"]}`), remote.Failed, 0, `"Validation Failed"`},
		{"422 with objects", answer(422, `{"message":"Validation Failed","errors":[{"resource":"Search","field":"q","code":"missing"},{"message":"no"}]}`), remote.Failed, 0, `"Validation Failed; q: missing; no"`},
		{"400 of Jira", answer(400, `{"errorMessages":["Bad JQL","Bad JQL"],"errors":{"b":"two","a":"one"}}`), remote.Failed, 0, `"Bad JQL; a: one; b: two"`},
		{"message of another type", answer(400, `{"message":{"x":1},"errors":7,"errorMessages":"no list"}`), remote.Failed, 0, "Bad Request"},
		{"web page", answer(502, html, "Content-Type", "text/html"), remote.Failed, 0, "returned a web page, not JSON"},
		{"web page, not called one", answer(502, " \n"+html), remote.Failed, 0, "returned a web page, not JSON"},
		{"plain text", answer(503, "come\nback\x1b[31m later", "Content-Type", "text/plain; charset=utf-8"), remote.Failed, 0, `"come back later"`},
		{"redirect to nowhere", answer(302, ""), remote.Failed, 0, "Found"},
		{"no such status", answer(599, "{"), remote.Failed, 0, "gave no reason"},
		{"hostile message", answer(404, `{"message":"a\u202eb\u001b[2Jc\nhttps://me:hunter2@x/"}`), remote.NotFound, 0, `"abc https://x/"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := remote.CheckResponse("GitHub", "~/.netrc machine github.com", tt.resp)
			want := &remote.Error{
				Service: "GitHub", Kind: tt.kind, Status: tt.resp.StatusCode, RetryAfter: tt.after,
				Credential: "~/.netrc machine github.com", Detail: tt.want,
			}
			if diff := cmp.Diff(error(want), err); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestCheckResponseCutsLongMessages(t *testing.T) {
	t.Parallel()
	var e *remote.Error
	if !errors.As(remote.CheckResponse("Jira", "", answer(400, `{"message":"`+strings.Repeat("é", 5000)+`"}`)), &e) {
		t.Fatal("no *Error")
	}
	if n := utf8.RuneCountInString(e.Detail); n != 202 { // with quotation marks
		t.Errorf("got %d characters", n)
	}
}

func TestCheckResponseLetsSuccessThrough(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 204} {
		resp := answer(status, "body")
		if err := remote.CheckResponse("GitHub", "", resp); err != nil {
			t.Errorf("%d: %v", status, err)
		}
		if b, _ := io.ReadAll(resp.Body); string(b) != "body" {
			t.Errorf("%d: the body is gone", status)
		}
	}
}

func TestReadJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		resp *http.Response
		want string
	}{
		{"good", answer(200, `{"n":1}`), ""},
		{"web page", answer(200, "<html>", "Content-Type", "text/html; charset=utf-8"), "returned a web page, not JSON"},
		{"cut", answer(200, `{"n":`), "returned something that is not the JSON it documents"},
		{"other shape", answer(200, `[1]`), "returned something that is not the JSON it documents"},
		{"empty", answer(200, ``), "returned something that is not the JSON it documents"},
		{"broken off", &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(brokenReader{})}, "the connection to the service was interrupted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var v struct{ N int }
			err := remote.ReadJSON("Jira", tt.resp, &v)
			if tt.want == "" {
				if err != nil || v.N != 1 {
					t.Errorf("got %v, %v", v, err)
				}
				return
			}
			var e *remote.Error
			kind := remote.Misdirected
			if tt.name == "broken off" {
				kind = remote.Failed
			}
			if !errors.As(err, &e) || e.Detail != tt.want || e.Kind != kind || e.Service != "Jira" {
				t.Errorf("got %#v, want %q", err, tt.want)
			}
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestErrorText(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	e := &remote.Error{Service: "Jira", Status: 404, Detail: "gone", Err: cause}
	if got := e.Error(); got != "Jira API error: gone (HTTP 404)" {
		t.Errorf("got %q", got)
	}
	if !errors.Is(e, cause) {
		t.Error("the cause is lost")
	}
}
