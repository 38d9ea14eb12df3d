package render

import (
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
)

// Profiles keeps the profiles of a directory until one of their files changes. It is safe for
// concurrent use, and its zero value is ready.
type Profiles struct {
	mu   sync.Mutex
	kept map[string]keptProfile // by name
}

// keptProfile is what the two files of a profile gave.
type keptProfile struct {
	app, user source
	profile   *profile
	err       error
}

// source is the content of a file, or why there is none.
type source struct {
	content string
	err     error

	signature cachedfile.Signature
	settled   bool // any later change shows in the signature
}

// current reports whether a file is what it was.
func (s source) current(root Files, name string) bool {
	info, err := root.Stat(configDir + "/" + name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) && errors.Is(s.err, fs.ErrNotExist)
	}
	return s.settled && cachedfile.SignatureOf(info) == s.signature
}

// maxKept is how many profiles are kept.
const maxKept = 200

// load reads the profile of that name. One that was kept is not changed by anybody.
func (c *Profiles) load(root Files, name string) (*profile, error) {
	name = trim(name)
	if name == "" {
		return nil, refuse("Profile name cannot be empty, using default")
	}
	if !profileName().MatchString(name) {
		return nil, refuse("Invalid profile name %q: it is the agent and the domain, of letters, digits and hyphens", name)
	}
	appName, userName := name+"-app.yml", name+"-user.yml"
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.kept[name]; ok && k.app.current(root, appName) && k.user.current(root, userName) {
		return k.profile, k.err
	}
	app, user := readSource(root, appName), readSource(root, userName)
	p, err := newProfile(name, app, user)
	if c.kept == nil || len(c.kept) >= maxKept {
		c.kept = make(map[string]keptProfile)
	}
	c.kept[name] = keptProfile{app, user, p, err}
	return p, err
}

// readSource reads a configuration file.
func readSource(root Files, name string) source {
	name = configDir + "/" + name
	at := time.Now()
	info, err := root.Stat(name)
	if err != nil {
		return source{err: err}
	}
	data, err := root.Read(name, maxConfig)
	signature := cachedfile.SignatureOf(info) // from before, so that a change meanwhile gives another
	return source{content: string(data), err: err, signature: signature, settled: err == nil && signature.Settled(at)}
}
