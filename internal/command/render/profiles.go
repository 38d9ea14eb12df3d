package render

import (
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
)

// Profiles keeps the profiles of a directory, and small templates, until one of their files changes.
// It is safe for concurrent use, and its zero value is ready.
type Profiles struct {
	mu    sync.Mutex
	kept  map[string]keptProfile // by name
	texts map[string]source      // templates by the names of their files
	now   func() time.Time       // nil is time.Now
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
	info, err := root.Stat(name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) && errors.Is(s.err, fs.ErrNotExist)
	}
	return s.settled && cachedfile.SignatureOf(info) == s.signature
}

const (
	// maxKept is how many profiles are kept, and how many templates.
	maxKept = 200
	// maxText is the maximum size of a template that is kept.
	maxText = 16 << 10
)

// load reads the profile of that name. One that was kept is not changed by anybody.
func (c *Profiles) load(root Files, name string) (*profile, error) {
	name = trim(name)
	if name == "" {
		return nil, refuse("Profile name cannot be empty, using default")
	}
	if !profileName.Get().MatchString(name) {
		return nil, refuse("Invalid profile name %q: it is the agent and the domain, of letters, digits, and hyphens", name)
	}
	appName, userName := configDir+"/"+name+"-app.yml", configDir+"/"+name+"-user.yml"
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.kept[name]; ok && k.app.current(root, appName) && k.user.current(root, userName) {
		return k.profile, k.err
	}
	app, user := c.readSource(root, appName, maxConfig), c.readSource(root, userName, maxConfig)
	p, err := newProfile(name, app, user)
	if c.kept == nil || len(c.kept) >= maxKept {
		c.kept = make(map[string]keptProfile)
	}
	c.kept[name] = keptProfile{app, user, p, err}
	return p, err
}

// readSource reads a file.
func (c *Profiles) readSource(root Files, name string, limit int64) source {
	at := time.Now()
	if c.now != nil {
		at = c.now()
	}
	info, err := root.Stat(name)
	if err != nil {
		return source{err: err}
	}
	data, err := root.Read(name, limit)
	signature := cachedfile.SignatureOf(info) // from before, so that a change meanwhile gives another
	return source{content: string(data), err: err, signature: signature, settled: err == nil && signature.Settled(at)}
}

// keptTexts are files of which small ones are kept while they do not change.
type keptTexts struct {
	Files
	in *Profiles
}

// Read returns the content of a file, which has at most limit bytes.
func (k keptTexts) Read(name string, limit int64) ([]byte, error) {
	k.in.mu.Lock()
	text, ok := k.in.texts[name]
	k.in.mu.Unlock()
	if ok && text.current(k.Files, name) {
		return []byte(text.content), nil
	}
	text = k.in.readSource(k.Files, name, limit)
	if text.settled && len(text.content) <= maxText {
		k.in.mu.Lock()
		defer k.in.mu.Unlock()
		if k.in.texts == nil || len(k.in.texts) >= maxKept {
			k.in.texts = make(map[string]source)
		}
		k.in.texts[name] = text
	}
	return []byte(text.content), text.err
}
