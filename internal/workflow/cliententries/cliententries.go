// Package cliententries compares the entries that MCP clients have for copse's HTTP servers with the
// running servers.
//
// A client sends its token to whatever listens on the port of its entry, so an entry must name a
// port that copse serves, with the token of the worktree served there. [Checker] reads the clients'
// files and reports problems. The control socket, which is verified to be this user's, reports the
// servers. The package never sends a token; it connects to a port that copse does not serve, and
// sends nothing there.
package cliententries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/supervisor"
	"github.com/copse-dev/copse/internal/supervisor/control"
)

// File is the configuration of a client.
type File struct {
	Client clientconfig.Client
	Scope  clientfile.Scope
	Path   string
	// Exposed means that other users can read it.
	Exposed bool
	// Untrusted means that the client does not read it, because the user does not trust the project.
	Untrusted bool
	// Entries are the servers in it. Err is the reason why they are unknown.
	Entries []clientconfig.Named
	Err     error
	// project are the files of the project that the client merges into this one.
	project []File
}

// InProject reports whether the client merges an entry of a project into the entry with a name. The
// entry of the project is then the complete one.
func (f File) InProject(name string) bool {
	return slices.ContainsFunc(f.project, func(p File) bool { return p.has(name) })
}

func (f File) has(name string) bool {
	return slices.ContainsFunc(f.Entries, func(e clientconfig.Named) bool { return e.Name == name })
}

// maxProjectFile is the maximum size of a client's file in a project, in bytes.
const maxProjectFile = 256 << 10

// ProjectFile returns a client's file in a project. It can come from a repository, so its size is
// limited, and no link points outside the project.
func ProjectFile(project, path string) lockedstore.Foreign {
	return lockedstore.ForeignIn(project, path).AtMost(maxProjectFile)
}

// Files reads the existing configurations.
func Files(location clientfile.Location) []File {
	var found []File
	for _, id := range clientconfig.IDs() {
		client, err := clientconfig.Lookup(id)
		if err != nil {
			continue // it is in the list
		}
		o := opened{client: client, place: location}
		user, project := o.files(clientfile.User), o.files(clientfile.Project)
		for i := range user {
			if client.Merges() && !client.AboveProject(user[i].Path, location) {
				user[i].project = project
			}
		}
		found = slices.Concat(found, user, project)
	}
	return found
}

// opened is a client while its files are read.
type opened struct {
	client clientconfig.Client
	place  clientfile.Location
	// above are the user's files that count more than a project's.
	above []File
	// user is the text of the user's file, and under are the texts that count less than a project's.
	user  []byte
	under [][]byte
	// excludes return why the client does not use the entry of a name, "" for none.
	excludes []func(name string) string
}

// files reads the existing configurations of a scope.
func (o *opened) files(scope clientfile.Scope) []File {
	paths, err := o.client.Paths(scope, o.place)
	if err != nil {
		return nil // it has none
	}
	var found []File
	var texts [][]byte
	for _, path := range paths {
		file := lockedstore.ForeignAt(path)
		if scope == clientfile.Project {
			file = ProjectFile(o.place.Dir, path)
		}
		text, err := file.Read()
		if errors.Is(err, fs.ErrNotExist) {
			continue // the client is not installed, or not used here
		}
		found, texts = append(found, File{Client: o.client, Scope: scope, Path: path, Err: err}), append(texts, text)
	}
	for i := range found {
		if found[i].Err == nil {
			o.read(&found[i], found[:i], texts[i], slices.Concat(texts[i+1:], o.under))
		}
	}
	for i := range found {
		if scope == clientfile.User && !o.client.AboveProject(found[i].Path, o.place) {
			o.under = append(o.under, texts[i])
		}
	}
	return found
}

// read reads the entries of a file. before are the files of its scope that count more, and under the
// texts of the valid ones less.
func (o *opened) read(f *File, before []File, text []byte, under [][]byte) {
	f.Exposed = Exposed(o.place.GOOS, f.Path)
	f.Entries, f.Err = o.client.Entries(text, under...)
	if f.Scope == clientfile.User {
		o.user = text
	} else {
		f.Untrusted = !o.client.Trusts(o.user, o.place.Dir, o.place.Main)
	}
	o.excludes = append(o.excludes, o.client.Excludes(text, o.place.Dir, o.place.Main))
	f.refuse(o.excludes)
	f.refuse(overridden(slices.Concat(o.above, before), f.Path))
	if f.Scope == clientfile.User && o.client.AboveProject(f.Path, o.place) {
		o.above = append(o.above, *f)
	}
}

// overridden returns why the client does not use an entry of the file at path that a file before
// has, too.
func overridden(before []File, path string) []func(name string) string {
	var all []func(name string) string
	for _, f := range before {
		other := f.Path
		if filepath.Dir(other) == filepath.Dir(path) {
			other = filepath.Base(other)
		}
		all = append(all, func(name string) string {
			if !f.has(name) {
				return ""
			}
			return fmt.Sprintf("%s has an entry of the same name, which counts", other)
		})
	}
	return all
}

// refuse records why the client does not use entries of the file; excludes return a reason for a name,
// "" for none.
func (f *File) refuse(excludes []func(name string) string) {
	for i := range f.Entries {
		e := &f.Entries[i]
		for _, why := range excludes {
			e.Refused = cmp.Or(e.Refused, why(e.Name))
		}
	}
}

// Exposed reports whether other users can read a file. Windows closes a user's profile to
// others, and its modes say nothing.
func Exposed(goos, path string) bool {
	info, err := os.Stat(path)
	return goos != "windows" && err == nil && info.Mode().Perm()&0o077 != 0
}

// Checker knows the servers. Create it with New.
type Checker struct {
	tokens bearer.Store
	status *control.Status // nil: copse up is not running
	known  map[string]int
}

// New returns a checker for the servers of a status, nil if copse up is not running. ports is the
// file of their ports, and tokens stores their tokens.
func New(ports string, tokens bearer.Store, status *control.Status) *Checker {
	known, err := supervisor.NewPorts(ports, 0).Known()
	if err != nil {
		known = nil // the servers' own state reports it
	}
	return &Checker{tokens: tokens, status: status, known: known}
}

// Problems lists the problems of the entries for servers over HTTP in the files of a place, each once:
// several clients read the same file.
func (c *Checker) Problems(ctx context.Context, location clientfile.Location) []string {
	var found distinct.List[string]
	for _, f := range Files(location) {
		if f.Err != nil {
			continue // an invalid file is the client's problem
		}
		secret := false
		for _, e := range f.Entries {
			problem, ours := c.Entry(ctx, f.Scope, e)
			if ours && problem != "" {
				found.Add(fmt.Sprintf("%s: %s %s", f.Path, e.Name, problem))
			}
			secret = secret || ours && e.Token != ""
		}
		if secret && f.Exposed {
			found.Add(f.Readable())
		}
	}
	return found.Values()
}

// Readable returns the problem that others can read the token in a file.
func (f File) Readable() string {
	return fmt.Sprintf("%s: other users can read the token in it; `chmod 600` it and create a new token with `copse up --rotate-token`", f.Path)
}

// Entry checks one entry of a file of a scope. It is ours if it leads to a server of copse over HTTP,
// or once did: by its token, its name, or its port. The client of such an entry sends its token to any
// address in it. An entry of a project's file with the name copse claims to be ours without a token, too,
// and so does one that also starts copse: each client has its own rule which of both it uses.
func (c *Checker) Entry(ctx context.Context, scope clientfile.Scope, e clientconfig.Named) (problem string, ours bool) {
	if e.Command != "" && e.URL != "" && e.IsCopse() {
		return fmt.Sprintf("starts copse and also leads to %q, and the client decides which it uses; remove one of them", hostOf(e.URL)), true
	}
	port, local := localPort(e.URL)
	if !local && e.URL != "" && scope == clientfile.Project && e.Name == "copse" && e.Token == "" {
		return fmt.Sprintf("leads to %q, which is not an address of copse's servers; remove the entry, or give it another name", hostOf(e.URL)), true
	}
	if !local && e.Token == "" || !c.isOurs(e, port) {
		return "", false
	}
	if !local {
		return fmt.Sprintf("leads to %q, which is not an address of copse's servers: the client sends its token there. "+
			"Run `copse mcp install` again, and create a new token with `copse up --rotate-token`", hostOf(e.URL)), true
	}
	for _, w := range c.running() {
		if w.MCP.Port == port {
			return compare(e, w), true
		}
	}
	if listening(ctx, port) {
		return fmt.Sprintf("points at port %d, where another program listens: the client sends its token there. "+
			"Run `copse up --new-port`, then `copse mcp install` again", port), true
	}
	for key, known := range c.known {
		if known != port {
			continue
		}
		token, err := readToken(c.tokens.File(key))
		if err == nil && e.Token != "" && token != e.Token {
			return fmt.Sprintf("has a token other than that of the worktree with port %d; run `copse mcp install` again", port), true
		}
		return "", true // nothing is served there at present
	}
	return fmt.Sprintf("points to port %d, which is not a worktree's; run `copse mcp install` again", port), true
}

// Serves reports whether copse serves the port of an entry at present.
func (c *Checker) Serves(e clientconfig.Named) bool {
	port, _ := localPort(e.URL)
	return slices.ContainsFunc(c.running(), func(w supervisor.State) bool { return w.MCP.Port == port })
}

// compare checks an entry against the server that it leads to.
func compare(e clientconfig.Named, w supervisor.State) string {
	if w.TokenFile == "" {
		return "" // none is required
	}
	token, err := readToken(bearer.New(w.TokenFile))
	switch {
	case err != nil:
		return "cannot be compared with the server's token: " + err.Error()
	case e.Token == "":
		return fmt.Sprintf("has no token, and port %d requires one; run `copse mcp install` again", w.MCP.Port)
	case e.Token != token:
		return fmt.Sprintf("has a token other than that of %s, which is served at port %d; run `copse mcp install` again", cmp.Or(w.Path, "the server of all worktrees"), w.MCP.Port)
	}
	return ""
}

// readToken reads a token and never creates one.
func readToken(f *bearer.File) (string, error) {
	if _, err := os.Lstat(f.Path()); err != nil {
		return "", err
	}
	return f.Token(context.Background())
}

func (c *Checker) isOurs(e clientconfig.Named, port int) bool {
	if strings.HasPrefix(e.Token, bearer.Prefix) || e.Name == "copse" || strings.HasPrefix(e.Name, "copse-") {
		return true
	}
	return slices.ContainsFunc(c.running(), func(w supervisor.State) bool { return w.MCP.Port == port })
}

// running returns the servers that run.
func (c *Checker) running() []supervisor.State {
	if c.status == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.status.Servers()), func(w supervisor.State) bool { return !w.MCP.ServerRunning })
}

// Ours reports whether an entry leads to a server of copse over HTTP, or once did: it has a
// token of copse, or the port of a worktree and no token.
func (c *Checker) Ours(e clientconfig.Named) bool {
	port, local := localPort(e.URL)
	if !local {
		return false
	}
	if e.Token != "" {
		return strings.HasPrefix(e.Token, bearer.Prefix)
	}
	return slices.Contains(slices.Collect(maps.Values(c.known)), port) || slices.ContainsFunc(c.running(), func(w supervisor.State) bool { return w.MCP.Port == port })
}

// Stale reports whether an entry is one of ours that no longer opens a server: no worktree has its
// port and its token.
func (c *Checker) Stale(e clientconfig.Named) bool {
	if !c.Ours(e) {
		return false
	}
	port, _ := localPort(e.URL)
	for _, w := range c.running() {
		if w.MCP.Port != port {
			continue
		}
		if w.TokenFile == "" {
			return false
		}
		token, err := readToken(bearer.New(w.TokenFile))
		return err == nil && token != e.Token
	}
	for key, known := range c.known {
		if known == port {
			if _, err := os.Stat(key); regular.Absent(err) {
				return true // its worktree no longer exists
			}
			token, err := readToken(c.tokens.File(key))
			return err == nil && token != e.Token
		}
	}
	return true
}

// localPort returns the port of an address at which copse can listen on this machine. Other addresses
// of loopback, such as 127.0.0.2, are free for any user.
func localPort(address string) (int, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return 0, false
	}
	ip := net.ParseIP(u.Hostname())
	if !strings.EqualFold(u.Hostname(), "localhost") && !ip.Equal(net.IPv4(127, 0, 0, 1)) && !ip.Equal(net.IPv6loopback) {
		return 0, false
	}
	port, err := strconv.Atoi(u.Port())
	return port, err == nil
}

// hostOf returns the host and port of an address, for display.
func hostOf(address string) string {
	const most = 100
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "an invalid address"
	}
	return cleantext.Cut(cleantext.Line(u.Host), most)
}

// dialTime is the time limit of a connection to a port of this machine.
const dialTime = 200 * time.Millisecond

// listening reports whether a program listens on a port. Nothing is sent to it.
func listening(ctx context.Context, port int) bool {
	for _, host := range []string{"127.0.0.1", "::1"} {
		conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			_ = conn.Close()
			return true
		}
	}
	return false
}

// Tighten restricts a file with a token to its user, before the token is written. It reports
// whether others could read it.
func Tighten(goos, path string) (bool, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if !Exposed(goos, path) {
		return false, nil
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return true, fmt.Errorf("make %s readable by you alone: %w", path, err)
	}
	return true, nil
}
