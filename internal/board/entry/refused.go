package entry

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
	"sync"
)

// The page asks for no other file, so its style is inside.
var (
	//go:embed refused.tmpl
	refusedPage string
	//go:embed refused.css
	refusedStyle string
)

// refused returns the page, and its policy, which names the hash of its style.
var refused = sync.OnceValues(func() (*template.Template, string) {
	sum := sha256.Sum256([]byte(refusedStyle))
	return template.Must(template.New("refused").Parse(refusedPage)),
		"default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
})

// Refuse answers a request without a session, with the one page that needs no login. It says why,
// and how to get one.
func Refuse(w http.ResponseWriter, r *http.Request, why string) {
	again := r.URL.EscapedPath()
	if r.URL.RawQuery != "" && !strings.HasSuffix(r.URL.Path, "/enter") {
		again += "?" + r.URL.RawQuery
	}
	page, policy := refused()
	var b bytes.Buffer
	if err := page.Execute(&b, struct {
		Style      template.CSS
		Why, Again string
	}{template.CSS(refusedStyle), why, strings.TrimSuffix(again, "enter")}); err != nil {
		http.Error(w, "this page needs a login: run copse board", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write(b.Bytes()) // a disconnected browser misses nothing
}
