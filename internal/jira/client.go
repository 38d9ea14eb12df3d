package jira

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/remote"
	"github.com/copse-dev/copse/internal/remote/seen"
)

// Options are what a [Client] is made of.
type Options struct {
	// Host is the Jira to read.
	Host Host
	// Credential is a login and its API token or password; without a login,
	// the secret is a personal access token of Data Center.
	Credential credential.Credential
	// Transport sends the requests: one of package remote, with Host.Allow.
	Transport http.RoundTripper
	// Seen keeps what Jira answered with, for [Client.Seen]; nil keeps nothing.
	Seen *seen.Lists
	// Timeout limits one request of the Transport; 0 is its default.
	Timeout time.Duration
	// UserAgent is the name and version of the program.
	UserAgent string
}

// Client reads from one Jira. Make it with [New]; many goroutines may use it.
type Client struct {
	host       Host
	credential credential.Credential
	userAgent  string
	timeout    time.Duration
	http       *http.Client
	seen       *seen.Lists

	asking chan struct{} // has room while nobody asks for the product
	kind   product       // guarded by asking
}

// product is which of the two Jiras a host runs.
type product int

const (
	unknown product = iota
	cloud
	dataCenter
)

// New returns a client. It sends nothing yet.
func New(o Options) *Client {
	c := &Client{
		host:       o.Host,
		credential: o.Credential,
		userAgent:  o.UserAgent,
		timeout:    o.Timeout,
		seen:       o.Seen,
		http: &http.Client{
			Transport: o.Transport,
			// Jira's API does not redirect; what does is a login page, or a
			// proxy that may be anyone.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		asking: make(chan struct{}, 1),
	}
	if o.Host.isSite() || o.Host.isGateway() {
		c.kind = cloud
	}
	return c
}

// product asks the server once which Jira it is; an answer is kept, a failure is
// not. Callers that come in the meantime wait, each as long as its own ctx allows.
func (c *Client) product(ctx context.Context) (product, error) {
	select {
	case c.asking <- struct{}{}:
		defer func() { <-c.asking }()
	case <-ctx.Done():
		return unknown, remote.TransportError(service, context.Cause(ctx))
	}
	if c.kind != unknown {
		return c.kind, nil
	}
	var info struct {
		DeploymentType string `json:"deploymentType"`
	}
	if _, err := c.call(ctx, http.MethodGet, serverInfo, nil, &info); err != nil {
		return unknown, err
	}
	c.kind = dataCenter
	if info.DeploymentType == "Cloud" {
		c.kind = cloud
	}
	return c.kind, nil
}

// call makes one request and decodes the answer into out. It returns when Jira
// confirmed the answer.
func (c *Client) call(ctx context.Context, method, path string, in, out any) (time.Time, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return time.Time{}, fmt.Errorf("encode request for %s: %w", path, err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.host.URL()+path, body)
	if err != nil {
		return time.Time{}, fmt.Errorf("make request for %s: %w", path, err)
	}
	req.Header.Set("Accept", "application/json")
	if c.userAgent != "" {
		req.Header.Set("User-Agent", c.userAgent)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		// Data Center takes a POST for a forged one if the User-Agent looks
		// like a browser's and this is missing.
		req.Header.Set("X-Atlassian-Token", "no-check")
	}
	if c.credential.Login != "" {
		req.SetBasicAuth(c.credential.Login, c.credential.Secret)
	} else {
		req.Header.Set("Authorization", "Bearer "+c.credential.Secret)
	}

	resp, err := c.http.Do(req)
	if err != nil {
		return time.Time{}, c.sign(remote.TransportError(service, err))
	}
	if err := c.check(resp); err != nil {
		return time.Time{}, err
	}
	if err := remote.ReadJSON(service, resp, out); err != nil {
		return time.Time{}, c.sign(err)
	}
	return remote.AsOf(resp), nil
}

// sign adds to err, if it is Jira's, where the credentials came from.
func (c *Client) sign(err error) error {
	if e := (*remote.Error)(nil); errors.As(err, &e) {
		e.Credential = c.credential.Source
	}
	return err
}

// failed is an answer that is of no use.
func (c *Client) failed(status int, detail string) error {
	return &remote.Error{Service: service, Status: status, Credential: c.credential.Source, Detail: detail}
}

// misdirected returns the error for an answer that does not come from Jira.
func (c *Client) misdirected(status int, detail string) error {
	return &remote.Error{Service: service, Kind: remote.Misdirected, Status: status, Credential: c.credential.Source, Detail: detail}
}

// maxProblem limits how much of an error's body is read.
const maxProblem = 64 << 10

// check returns the error that resp stands for, with its body closed, or nil.
func (c *Client) check(resp *http.Response) error {
	if reason := loginReason(resp.Header); reason != "" {
		_ = resp.Body.Close()
		return &remote.Error{Service: service, Kind: remote.Refused, Status: resp.StatusCode, Credential: c.credential.Source, Detail: reason}
	}
	switch resp.StatusCode / 100 {
	case 2:
		return nil
	case 3:
		_ = resp.Body.Close()
		detail := "redirects elsewhere"
		if to, err := resp.Location(); err == nil && to.Host != "" {
			detail = "redirects to " + to.Scheme + "://" + to.Host
		}
		return c.misdirected(resp.StatusCode, c.host.URL()+" "+detail+", which is a login page or another address of Jira; check $"+HostVariable)
	}
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound && err == nil && !isJiraProblem(said) {
		return c.misdirected(resp.StatusCode, "there is no Jira at "+c.host.URL()+"; check $"+HostVariable+", and whether a path such as /jira belongs to it")
	}
	resp.Body = io.NopCloser(bytes.NewReader(said))
	err = remote.CheckResponse(service, c.credential.Source, resp)
	if e := (*remote.Error)(nil); errors.As(err, &e) {
		switch resp.StatusCode {
		case http.StatusUnauthorized:
			e.Detail = "the login or token was not accepted"
		case http.StatusGone:
			e.Detail = "this Jira no longer has the requested API: " + e.Detail
		}
	}
	return err
}

// loginReason says what Jira found wrong with the credentials, "" for nothing.
// Only this header tells: Cloud then answers as to an anonymous visitor, with an
// empty result or with 404.
func loginReason(h http.Header) string {
	said := strings.Join(h.Values("X-Seraph-LoginReason"), ",")
	switch {
	case strings.Contains(said, "AUTHENTICATION_DENIED"), strings.Contains(h.Get("X-Authentication-Denied-Reason"), "CAPTCHA"):
		return "Jira requires a CAPTCHA after failed logins: log in once with a browser, then try again"
	case strings.Contains(said, "AUTHENTICATED_FAILED"):
		return "the login or token was not accepted; an API token may have expired"
	}
	return ""
}

// isJiraProblem reports whether body is an error of Jira's API, and not of some
// other web server.
func isJiraProblem(body []byte) bool {
	var p struct {
		Messages json.RawMessage `json:"errorMessages"`
	}
	return json.Unmarshal(body, &p) == nil && p.Messages != nil
}
