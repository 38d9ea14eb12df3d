// Package poison spoils the answers of a service, one field at a time, to show that each field that
// a client passes on is clean.
package poison

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/copse-dev/copse/internal/cleantext"
)

// odd has a character of each kind that must not pass.
const odd = "a\x1b[31mb\rc\x00d\x7fe\u009b31mf\u202eg\u200bh\u2028i\U000e0041j\u00adk\ufeff"

// EachField calls ask with a transport to handler: first with its own answers, then once for each
// name of a text in these answers, with odd characters added to the texts of that name. No result of ask may contain such
// characters, except line feeds and tabs.
func EachField(t *testing.T, handler http.Handler, ask func(http.RoundTripper) []any) {
	t.Helper()
	answers := &answers{handler: handler, known: map[string]answer{}}
	harmless := &transport{answers: answers, fields: map[string]bool{}}
	ask(harmless)
	if len(harmless.fields) == 0 {
		t.Fatal("the answers have no text")
	}
	for _, field := range slices.Sorted(maps.Keys(harmless.fields)) {
		for i, result := range ask(&transport{answers: answers, fields: map[string]bool{}, target: field}) {
			data, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			var value any
			if err := json.Unmarshal(data, &value); err != nil {
				t.Fatal(err)
			}
			each(value, "", func(path, text string) string {
				if clean := cleantext.Block(text); clean != text {
					t.Errorf("%s: %s of result %d has odd characters: %q", field, path, i, text)
				}
				return text
			})
		}
	}
}

// answers are those of a handler, which is asked each question once.
type answers struct {
	handler http.Handler

	mu    sync.Mutex
	known map[string]answer
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a *answers) to(r *http.Request) (answer, error) {
	received := r.Clone(r.Context())
	question := r.Method + " " + r.URL.String() + "\n"
	received.Body = http.NoBody
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return answer{}, err
		}
		question += string(body)
		received.Body = io.NopCloser(bytes.NewReader(body))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.known[question]; ok {
		return known, nil
	}
	recorder := httptest.NewRecorder()
	a.handler.ServeHTTP(recorder, received)
	found := answer{recorder.Code, recorder.Header(), recorder.Body.Bytes()}
	a.known[question] = found
	return found, nil
}

// transport adds odd characters to the texts with one name.
type transport struct {
	answers *answers
	target  string

	mu     sync.Mutex
	fields map[string]bool // that answers had
}

// RoundTrip answers as the handler does.
func (p *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	found, err := p.answers.to(r)
	if err != nil {
		return nil, err
	}
	body := found.body
	var value any
	if json.Unmarshal(body, &value) == nil {
		value = each(value, "", func(path, text string) string {
			field := path[strings.LastIndexByte(path, ' ')+1:]
			p.mu.Lock()
			p.fields[field] = true
			p.mu.Unlock()
			if field == p.target {
				return text + odd
			}
			return text
		})
		if body, err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	header := found.header.Clone()
	header.Set("Content-Length", strconv.Itoa(len(body)))
	return &http.Response{
		StatusCode: found.status, Status: http.StatusText(found.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// each replaces each text in a value with what change returns for it and its path.
func each(value any, path string, change func(path, text string) string) any {
	switch value := value.(type) {
	case string:
		return change(path, value)
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			value[name] = each(value[name], path+" "+name, change)
		}
	case []any:
		for i := range value {
			value[i] = each(value[i], path, change)
		}
	}
	return value
}
