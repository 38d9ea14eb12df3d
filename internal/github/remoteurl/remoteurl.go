// Package remoteurl finds the repository of a git remote at GitHub or GitHub Enterprise, and the
// address of its API.
//
// Use [ParseRemote] and [APIBase]. Errors never contain the credentials of a URL.
package remoteurl

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Repo names one repository.
type Repo struct {
	// Host is in lower case and without a port: "github.com" for all of github.com's names, or else
	// that of an Enterprise server.
	Host  string
	Owner string
	Name  string
}

// String returns "owner/name".
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// RemoteError explains why a remote's URL names no GitHub repository.
type RemoteError struct {
	// URL is the remote's, without credentials, query, and fragment, and without the path at a host that is not
	// GitHub's.
	URL    string
	Reason string
}

func (e *RemoteError) Error() string {
	return fmt.Sprintf("parse remote URL %q: %s", e.URL, e.Reason)
}

// ParseRemote returns the repository of a git remote's URL: https, ssh, and git URLs, and scp-like
// addresses (git@github.com:owner/name.git). GitHub Enterprise hosts are those that begin with a
// label "github…" or "ghe…", those under ghe.com, and those for which known, if not nil, returns
// true. An ssh alias "github.com-work" is github.com. The error is a [*RemoteError].
func ParseRemote(remoteURL string, known func(host string) bool) (Repo, error) {
	remoteURL = strings.TrimSpace(remoteURL)
	fail := func(reason string) (Repo, error) {
		return Repo{}, &RemoteError{URL: redact(remoteURL, known), Reason: reason}
	}
	scheme, host, path, ok := splitRemote(remoteURL)
	if !ok {
		return fail("not a URL of a remote repository")
	}
	switch scheme {
	case "https", "http", "ssh", "git", "git+ssh", "ssh+git":
	default:
		return fail(fmt.Sprintf("GitHub does not support the scheme %q", scheme))
	}
	host, ok = canonicalHost(host, strings.Contains(scheme, "ssh"), known)
	if !ok {
		return fail("not a GitHub host")
	}
	owner, name, _ := strings.Cut(strings.TrimLeft(path, "/"), "/")
	name, _, _ = strings.Cut(strings.TrimLeft(name, "/"), "/")
	name = strings.TrimSuffix(name, ".git")
	if !validName(owner) || !validName(name) {
		return fail("the path is not owner/name")
	}
	return Repo{Host: host, Owner: owner, Name: name}, nil
}

// ParseFullName reads "owner/name".
func ParseFullName(s string) (owner, name string, err error) {
	owner, name, _ = strings.Cut(s, "/")
	if !validName(owner) || !validName(name) {
		return "", "", fmt.Errorf("parse repository %q: use owner/name", redact(s, nil))
	}
	return owner, name, nil
}

// validName reports whether s can be an owner or a repository. GitHub allows less; these names need
// no escaping in a path, and lead nowhere else.
func validName(s string) bool {
	if s == "" || s == "." || s == ".." || len(s) > 100 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// splitRemote splits a remote's URL as git does. The host is in lower case and has no port, the
// path no query and no fragment.
func splitRemote(s string) (scheme, host, path string, ok bool) {
	scheme, rest, isURL := cutScheme(s)
	if !isURL {
		// scp-like: the first colon comes before any slash. The host may be in brackets, with its
		// port.
		i := strings.IndexAny(s, ":/[")
		if i >= 0 && s[i] == '[' {
			end := strings.Index(s[i:], "]:")
			if end < 0 {
				return "", "", "", false
			}
			host, path = s[i+1:i+end], s[i+end+2:]
		} else {
			if i <= 0 || s[i] != ':' {
				return "", "", "", false
			}
			host, path = s[:i], s[i+1:]
		}
		scheme = "ssh"
	} else {
		end := strings.IndexAny(rest, "/?#")
		if end < 0 {
			end = len(rest)
		}
		host, path = rest[:end], rest[end:]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if h, port, err := net.SplitHostPort(host); err == nil {
		if strings.Trim(port, "0123456789") != "" {
			return "", "", "", false
		}
		host = h
	}
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return strings.ToLower(scheme), host, path, host != ""
}

// cutScheme splits s at "://", if the text before it can be a scheme.
func cutScheme(s string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(s, "://")
	for _, c := range []byte(scheme) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		ok = ok && (letter || '0' <= c && c <= '9' || c == '+' || c == '-')
	}
	if !ok {
		return "", s, false
	}
	return scheme, rest, true
}

// canonicalHost returns the canonical host of a GitHub server.
func canonicalHost(host string, ssh bool, known func(string) bool) (string, bool) {
	const dotcom = "github.com"
	if !validHost(host) {
		return "", false
	}
	switch {
	case host == dotcom, host == "www."+dotcom, host == "ssh."+dotcom,
		ssh && strings.HasPrefix(host, dotcom+"-"):
		return dotcom, true
	case strings.HasSuffix(host, "."+dotcom):
		return "", false // gist.github.com and similar hosts have no repositories
	case known != nil && known(host):
		return host, true
	}
	first, rest, dotted := strings.Cut(host, ".")
	enterprise := dotted && rest != "" && (strings.HasPrefix(first, "github") || strings.HasPrefix(first, "ghe"))
	return host, enterprise || isDataResidency(host)
}

// isDataResidency reports whether host is a tenant of GitHub's own Enterprise
// service.
func isDataResidency(host string) bool {
	tenant, ok := strings.CutSuffix(host, ".ghe.com")
	return ok && tenant != "" && !strings.Contains(tenant, ".")
}

func validHost(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		if !validName(label) {
			return false
		}
	}
	return true
}

// hidden replaces a part of an address that is not shown.
const hidden = "…"

// redact returns the parts of a remote's URL that cannot be secret: the scheme, a host, a port that
// is a number, and the path after it if the host is GitHub's. The path at another host can be a token.
// Of an address in an unknown form, where a secret could be anywhere, it shows at most the scheme.
func redact(s string, known func(host string) bool) string {
	scheme, rest, isURL := cutScheme(s)
	if !isURL {
		if transport, _, ok := strings.Cut(s, "::"); ok && validName(transport) {
			return transport + "::" + hidden
		}
		return redactPlain(s, known)
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, path := rest[:end], rest[end:]
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	user := ""
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		if authority[:i] == "git" {
			user = "git@"
		}
		authority = authority[i+1:]
	}
	host, port, hasPort := strings.Cut(authority, ":")
	if !validHost(host) || hasPort && strings.Trim(port, "0123456789") != "" || !plainPath(path) {
		return scheme + "://" + hidden
	}
	if !isGitHub(host, strings.Contains(scheme, "ssh"), known) && strings.Trim(path, "/") != "" {
		path = "/" + hidden
	}
	return scheme + "://" + user + authority + path
}

// redactPlain redacts a remote that is not a URL: an scp-like address, a name, or a path. A path to another machine
// is one at another host.
func redactPlain(s string, known func(host string) bool) string {
	const separators = `/\`
	if len(s) > 2 && strings.ContainsRune(separators, rune(s[0])) && strings.ContainsRune(separators, rune(s[1])) {
		end := strings.IndexAny(s[2:], separators)
		switch {
		case end < 0 && validHost(s[2:]):
			return s
		case end < 0 || !validHost(s[2:2+end]):
			return hidden
		}
		return s[:2+end+1] + hidden
	}
	user, rest, ok := strings.Cut(s, "@")
	if !ok {
		user, rest = "", s
	}
	host, path, scp := strings.Cut(rest, ":")
	if !plainPath(host) || !plainPath(path) {
		return hidden
	}
	if scp && len(host) > 1 && !isGitHub(host, true, known) { // a letter is a drive of Windows
		rest = host + ":" + hidden
	}
	if user == "git" {
		return "git@" + rest
	}
	return rest
}

// isGitHub reports whether a host, in any case, is a GitHub server.
func isGitHub(host string, ssh bool, known func(string) bool) bool {
	_, ok := canonicalHost(strings.ToLower(host), ssh, known)
	return ok
}

// plainPath reports whether s can be shown: it contains nothing that begins or hides a login.
func plainPath(s string) bool {
	return !strings.ContainsAny(s, "@%:?#;= ")
}

// RemoteLogin returns the login and the password in the URL of a remote, even if it is malformed: a
// password in place of the port, or an escaped "@". The password is empty if there is none.
func RemoteLogin(remoteURL string) (login, password string) {
	_, rest, ok := cutScheme(strings.TrimSpace(remoteURL))
	if !ok {
		return "", ""
	}
	authority := rest
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		authority = rest[:i] // a "/" in a password does not end it
	} else {
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			authority = rest[:i]
		}
		before, _, escaped := strings.Cut(authority, "%40")
		login, password, _ = strings.Cut(before, ":")
		if !escaped && strings.Trim(password, "0123456789") == "" {
			return "", "" // a port
		}
		return unescape(login), unescape(password)
	}
	login, password, ok = strings.Cut(authority, ":")
	if !ok && len(login) >= tokenLength {
		return "", unescape(login)
	}
	return unescape(login), unescape(password)
}

// tokenLength is the minimum length of a login without a password that counts as a token.
const tokenLength = 20

func unescape(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// APIBase returns the address of host's API. An override, such as $GITHUB_API_URL, takes
// precedence; it must be https, or http on this machine.
func APIBase(host, override string) (*url.URL, error) {
	if override != "" {
		return parseOverride(override)
	}
	u := &url.URL{Scheme: "https", Host: host, Path: "/api/v3"}
	switch {
	case host == "github.com":
		u.Host, u.Path = "api.github.com", ""
	case isDataResidency(host):
		u.Host, u.Path = "api."+host, ""
	case !validHost(host):
		return nil, fmt.Errorf("find API of host %q: not a host name", redact(host, nil))
	}
	return u, nil
}

func parseOverride(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("use API URL %q: it must be https://host[/path]", redact(s, nil))
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return nil, fmt.Errorf("use API URL %q: it must use https, or http on this machine", redact(s, nil))
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
