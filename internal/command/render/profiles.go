package render

import (
	"fmt"
	"path"
	"sync"
)

// Profiles keeps the profiles of a folder as long as their files have the same
// content; the files are read each time. It is safe for concurrent use, and its
// zero value is ready.
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
}

func (s source) same(other source) bool {
	return s.content == other.content && fmt.Sprint(s.err) == fmt.Sprint(other.err)
}

// maxKept is how many profiles are kept.
const maxKept = 200

// load reads the profile of that name. One that was kept is not changed by anybody.
func (c *Profiles) load(root Files, name string) (*profile, error) {
	name = trim(name)
	if name == "" {
		return nil, refuse("Profile name cannot be empty, using default")
	}
	if !profileName.MatchString(name) {
		return nil, refuse("Invalid profile name %q: it is the agent and the domain, of letters, digits and hyphens", name)
	}
	app, user := readSource(root, name+"-app.yml"), readSource(root, name+"-user.yml")
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.kept[name]; ok && k.app.same(app) && k.user.same(user) {
		return k.profile, k.err
	}
	p, err := newProfile(name, app, user)
	if c.kept == nil || len(c.kept) >= maxKept {
		c.kept = make(map[string]keptProfile)
	}
	c.kept[name] = keptProfile{app, user, p, err}
	return p, err
}

// readSource reads a configuration file.
func readSource(root Files, name string) source {
	data, err := root.Read(path.Join(configFolder, name), maxConfig)
	return source{string(data), err}
}
