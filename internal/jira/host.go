package jira

import (
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/copse-dev/copse/internal/lazyregexp"
)

// HostVariable is the environment variable with the address of the user's Jira.
const HostVariable = "JIRA_HOST"

// fallbackMachine is the netrc entry for each site of Atlassian's cloud without its own, and no
// other Jira.
const fallbackMachine = "atlassian.net"

// Host is the address of one Jira. Create it with [ParseHost].
type Host struct {
	scheme string
	host   string // with the port, if it is not the scheme's own
	path   string // the context path, without a slash at the end
}

var (
	schemePattern = lazyregexp.New(`^(?i)([a-z][a-z0-9+.-]*):/+`)
	pathPattern   = lazyregexp.New(`^[A-Za-z0-9._~/-]*$`)
)

// ParseHost reads the value of $JIRA_HOST: "acme.atlassian.net", "jira.example.com:8443",
// "https://example.com/jira". The default scheme is https; a single slash after the scheme counts
// as a typing error, and such an address is https, too. The address of any page of a Cloud site
// means the site. The error is an [*InvalidError], and repeats nothing of a value that may contain
// a password.
func ParseHost(raw string) (Host, error) {
	refuse := func(message string) (Host, error) {
		return Host{}, &InvalidError{Argument: HostVariable, Message: message + `; use the address of your Jira, such as "acme.atlassian.net" or "https://jira.example.com"`}
	}
	rest := strings.TrimSpace(raw)
	if rest == "" {
		return refuse("is empty")
	}
	scheme := "https"
	if m := schemePattern.Get().FindStringSubmatch(rest); m != nil {
		given := strings.ToLower(m[1])
		if given != "http" && given != "https" {
			return refuse("has the scheme " + given + "://, which is not supported")
		}
		if strings.HasSuffix(m[0], "//") {
			scheme = given
		}
		rest = rest[len(m[0]):]
	}
	u, err := url.Parse(scheme + "://" + strings.TrimLeft(rest, "/"))
	switch {
	case err != nil:
		return refuse("is not an address")
	case u.User != nil:
		return refuse("contains a user name or password, which belong in ~/.netrc")
	case !isHostname(u.Hostname()) || !isPort(u.Port()):
		return refuse("has no valid host name")
	}
	h := Host{scheme: scheme, host: strings.ToLower(u.Hostname())}
	if strings.Contains(h.host, ":") {
		h.host = "[" + h.host + "]"
	}
	if port := u.Port(); port != "" && (scheme != "https" || port != "443") && (scheme != "http" || port != "80") {
		h.host += ":" + port
	}
	if h.isSite() {
		return h, nil
	}
	if u.RawQuery != "" || u.Fragment != "" || !pathPattern.Get().MatchString(u.EscapedPath()) {
		return refuse("is the URL of a page")
	}
	h.path = strings.TrimRight(path.Clean("/"+u.Path), "/")
	return h, nil
}

func isHostname(name string) bool {
	if net.ParseIP(name) != nil {
		return true
	}
	return strings.Trim(name, ".") != "" && strings.IndexFunc(name, func(c rune) bool {
		return c != '-' && c != '.' && c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}) < 0
}

func isPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n > 0 && n < 1<<16
}

// URL returns the base address of the API, without a slash at the end.
func (h Host) URL() string { return h.scheme + "://" + h.host + h.path }

// Machines returns the names under which netrc may have the login, in the order of the search.
func (h Host) Machines() []string {
	name := h.hostname()
	all := []string{h.host + h.path, h.host, name}
	if h.Atlassian() {
		all = append(all, fallbackMachine)
	}
	return slices.Compact(all)
}

// Atlassian reports whether h is by its name one of Atlassian's own hosts, so that credentials for
// their cloud may be sent to it.
func (h Host) Atlassian() bool {
	return h.scheme == "https" && (h.isSite() || h.isGateway() || h.hostname() == fallbackMachine)
}

func (h Host) hostname() string {
	u := url.URL{Host: h.host}
	return u.Hostname()
}

// isSite reports whether h is a Cloud site by its name. A site has no context path.
func (h Host) isSite() bool {
	name := strings.TrimSuffix(h.hostname(), ".")
	for _, domain := range []string{".atlassian.net", ".jira.com", ".atlassian-us-gov-mod.net"} {
		if strings.HasSuffix(name, domain) {
			return true
		}
	}
	return false
}

// isGateway reports whether h is the address for tokens with scopes:
// api.atlassian.com/ex/jira/<cloud id>. It is Cloud, too.
func (h Host) isGateway() bool { return h.hostname() == "api.atlassian.com" }

// The paths of the API that the client uses, below the host's.
const (
	cloudIssue       = "/rest/api/3/issue/"
	cloudSearch      = "/rest/api/3/search/jql"
	dataCenterIssue  = "/rest/api/2/issue/"
	dataCenterSearch = "/rest/api/2/search"
	serverInfo       = "/rest/api/2/serverInfo"
	// commentsPath follows the path of an issue.
	commentsPath = "/comment"
)

// Allow reports whether req is one of the client's requests: GET of an issue, of its comments, or
// of the server's kind, and POST of a search, to this host and nothing that only looks like it.
func (h Host) Allow(req *http.Request) bool {
	u := req.URL
	same := u.Scheme == h.scheme && u.Host == h.host && (req.Host == "" || req.Host == h.host)
	plain := u.Opaque == "" && u.User == nil && u.RawPath == "" && u.EscapedPath() == u.Path
	if !same || !plain || req.Header.Get("X-HTTP-Method-Override") != "" {
		return false
	}
	rest, ok := strings.CutPrefix(u.Path, h.path)
	if !ok {
		return false
	}
	switch req.Method {
	case http.MethodGet:
		for _, prefix := range []string{cloudIssue, dataCenterIssue} {
			key, ok := strings.CutPrefix(rest, prefix)
			if ok && keyPattern.Get().MatchString(strings.TrimSuffix(key, commentsPath)) {
				return true
			}
		}
		return rest == serverInfo
	case http.MethodPost:
		return rest == cloudSearch || rest == dataCenterSearch
	}
	return false
}
