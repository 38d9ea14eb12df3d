package credential

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/netrc"
)

// ghTimeout is the time limit of the gh program: it may query a keyring, but not the network.
const ghTimeout = 5 * time.Second

// ErrNotInstalled is the error of Finder.GHToken if there is no gh program.
var ErrNotInstalled = errors.New("not installed")

// Finder looks for credentials. All fields except GHToken must be set; Home may be empty if there
// is no home directory. It is safe for concurrent use if its functions are.
type Finder struct {
	Getenv func(name string) string
	Home   string
	// GOOS is the operating system, as in runtime.GOOS.
	GOOS string
	// GHToken runs "gh auth token --hostname HOST" and returns its output. It should hide the token
	// variables of GitHub's point 2 from gh, which prefers them to its own login. Nil disables gh.
	GHToken func(ctx context.Context, host string) (string, error)
	// Found is called with each login that is found, so that its secret can be redacted. Nil calls
	// nothing.
	Found func(login, secret string)
}

// found reports a login to Finder.Found.
func (f Finder) found(c Credential) Credential {
	if f.Found != nil {
		f.Found(c.Login, c.Secret)
	}
	return c
}

// GitHub returns the credentials for host, a host name as in a remote URL and
// without a port. The order is:
//
//  1. netrc machine host, for github.com then api.github.com;
//  2. $GH_TOKEN, then $GITHUB_TOKEN, for github.com, and for a tenant of ghe.com
//     that the user has named: in $GH_HOST, in $GITHUB_SERVER_URL, or by a login of gh;
//     $GH_ENTERPRISE_TOKEN, then $GITHUB_ENTERPRISE_TOKEN, for the host that
//     $GH_HOST names;
//  3. the login of gh.
//
// The remote URL of a repository decides the host, and a cloned repository may
// name any. A token from the environment therefore goes to no host other than those of
// point 2, not even when gh offers it.
//
// The error is a *MissingError, or that of ctx.
func (f Finder) GitHub(ctx context.Context, host string) (Credential, error) {
	host = strings.ToLower(host)
	if !isHost(host) {
		return Credential{}, &MissingError{Host: strconv.Quote(host), Tried: []string{"not a host name"}}
	}
	machines := []string{host}
	if host == "github.com" {
		machines = append(machines, "api.github.com")
	}
	missing := &MissingError{Host: host}
	if c, ok := f.fromNetrc(machines, missing, logins); ok {
		return f.found(c), nil
	}
	if c, ok := f.fromEnv(host, missing); ok {
		return f.found(c), nil
	}
	if c, ok := f.fromGH(ctx, host, missing); ok {
		return f.found(c), nil
	}
	if err := ctx.Err(); err != nil {
		return Credential{}, fmt.Errorf("find credentials for %s: %w", host, err)
	}
	return Credential{}, missing
}

// Jira returns the credentials for a Jira. machines are the names under which the netrc
// file may have them, and cloud reports whether it is one of Atlassian's hosts. The order is:
//
//  1. $JIRA_EMAIL with $JIRA_TOKEN, and $JIRA_PAT, a personal access token; the
//     token first where the Jira is not Atlassian's, because only Data Center has them;
//  2. the first machine in the netrc file. An entry without a login is a personal
//     access token.
//
// The error is a *MissingError, or that of ctx.
func (f Finder) Jira(ctx context.Context, machines []string, cloud bool) (Credential, error) {
	if len(machines) == 0 {
		return Credential{}, &MissingError{Host: "Jira", Tried: []string{"no host is known"}}
	}
	if err := ctx.Err(); err != nil {
		return Credential{}, fmt.Errorf("find credentials for %s: %w", machines[0], err)
	}
	missing := &MissingError{Host: machines[0]}
	if c, ok := f.jiraFromEnv(cloud, missing); ok {
		return f.found(c), nil
	}
	if c, ok := f.fromNetrc(machines, missing, bareTokens); ok {
		return f.found(c), nil
	}
	return Credential{}, missing
}

func (f Finder) jiraFromEnv(cloud bool, missing *MissingError) (Credential, bool) {
	email, token, pat := f.env("JIRA_EMAIL"), f.env("JIRA_TOKEN"), f.env("JIRA_PAT")
	if pat != "" && (!cloud || email == "" || token == "") {
		return Credential{Secret: pat, Source: "$JIRA_PAT"}, true
	}
	switch {
	case email != "" && token != "":
		return Credential{Login: email, Secret: token, Source: "$JIRA_EMAIL and $JIRA_TOKEN"}, true
	case email != "":
		missing.add("$JIRA_EMAIL", "set, but $JIRA_TOKEN is not")
		missing.Half = "$JIRA_EMAIL is set, but $JIRA_TOKEN is not"
	case token != "":
		missing.add("$JIRA_TOKEN", "set, but $JIRA_EMAIL is not")
		missing.Half = "$JIRA_TOKEN is set, but $JIRA_EMAIL is not"
	default:
		missing.add("$JIRA_EMAIL with $JIRA_TOKEN, $JIRA_PAT", "not set")
	}
	return Credential{}, false
}

// An entry of the netrc file without a login contains a token, if the service has tokens.
const (
	logins     = false
	bareTokens = true
)

func (f Finder) fromNetrc(machines []string, missing *MissingError, bare bool) (Credential, bool) {
	path := netrc.Path(f.GOOS, f.Getenv, f.Home)
	name := "~/" + filepath.Base(path)
	switch {
	case path == "":
		missing.add("~/.netrc", "no home directory")
		return Credential{}, false
	case f.Getenv("NETRC") != "":
		name = "$NETRC"
	}
	file, err := netrc.Read(path)
	if err != nil {
		missing.add(name, reason(err))
		return Credential{}, false
	}
	var absent, results []string
	for _, m := range machines {
		if e, ok := file.Lookup(m); ok {
			return Credential{Login: e.Login, Secret: e.Password, Source: name + " machine " + m}, true
		}
		if password, ok := file.Token(m); ok && bare {
			return Credential{Secret: password, Source: name + " machine " + m}, true
		}
		if file.Has(m) {
			results = append(results, "machine "+m+" lacks a login or a password")
		} else {
			absent = append(absent, m)
		}
	}
	if len(absent) > 0 {
		results = append(results, "no machine "+strings.Join(absent, " or "))
	}
	if file.HasDefault() {
		results = append(results, "its default entry is not used")
	}
	missing.add(name, strings.Join(results, ", "))
	return Credential{}, false
}

// reason returns the cause of an error of netrc.Read, without the path.
func reason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "no such file"
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return "not read: " + pathErr.Err.Error()
	}
	return "not read: " + err.Error()
}

func (f Finder) fromEnv(host string, missing *MissingError) (Credential, bool) {
	names, wanted := []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}, "set, but used only for the host in $GH_HOST"
	if isGitHub(host) {
		names = []string{"GH_TOKEN", "GITHUB_TOKEN"}
		wanted = "set, but used for a host of ghe.com only if $GH_HOST is " + host + ", or gh has a login for it"
	}
	for _, name := range names {
		token := f.env(name)
		if token == "" {
			continue
		}
		if !f.trusted(host) {
			missing.add("$"+name, wanted)
			return Credential{}, false
		}
		return Credential{Secret: token, Source: "$" + name}, true
	}
	missing.add("$"+strings.Join(names, ", $"), "not set")
	return Credential{}, false
}

func (f Finder) fromGH(ctx context.Context, host string, missing *MissingError) (Credential, bool) {
	if f.GHToken == nil {
		return Credential{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, ghTimeout)
	defer cancel()
	token, err := f.GHToken(ctx, host)
	token = strings.TrimSpace(token)
	switch {
	case errors.Is(err, ErrNotInstalled):
		missing.add("gh", "not installed")
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && err != nil:
		missing.add("gh", "no answer in time")
	case err != nil || token == "":
		missing.add("gh", "not logged in to "+host)
	case !f.trusted(host) && f.fromEnvironment(token):
		missing.add("gh", "offered only a token from the environment, which is for another host")
	default:
		return Credential{Secret: token, Source: "gh auth token"}, true
	}
	return Credential{}, false
}

// trusted reports whether the tokens of the environment are meant for host: github.com itself, the one
// host that the user has named, and the tenants of ghe.com that gh or a workflow of GitHub knows.
// Anybody can have a tenant.
func (f Finder) trusted(host string) bool {
	switch {
	case host == "github.com", strings.EqualFold(host, f.env("GH_HOST")):
		return true
	case !isGitHub(host):
		return false
	}
	server, err := url.Parse(f.env("GITHUB_SERVER_URL"))
	return err == nil && strings.EqualFold(host, server.Hostname()) || f.inGH(host)
}

// fromEnvironment reports whether token is one of the environment's, which gh returns like its own.
func (f Finder) fromEnvironment(token string) bool {
	for _, name := range []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"} {
		if f.env(name) == token {
			return true
		}
	}
	return false
}

func (f Finder) env(name string) string { return strings.TrimSpace(f.Getenv(name)) }

// isGitHub reports whether GitHub runs the service of a host.
func isGitHub(host string) bool {
	return host == "github.com" || strings.HasSuffix(host, ".ghe.com")
}

// isHost reports whether s can be a host name or an address, and thus neither an option to a
// program nor a text that would garble a message.
func isHost(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-._:[]") == ""
}

func (e *MissingError) add(source, result string) {
	e.Tried = append(e.Tried, source+": "+result)
}
