package app

import (
	"strings"

	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/netrc"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/secret/setting"
)

// guarded returns an environment whose Stdout and Stderr omit its own secrets and those that are
// added to its Secrets. flush writes the text that they hold back.
func (e Env) guarded() (_ Env, flush func()) {
	if e.Secrets == nil {
		e.Secrets = secret.New(e.netrc)
	}
	for _, name := range credential.Secrets() {
		e.Secrets.Add(e.Getenv(name))
	}
	e.Secrets.AddLogin(e.Getenv("JIRA_EMAIL"), e.Getenv("JIRA_TOKEN"))
	for _, kv := range e.Environ {
		if name, address, _ := strings.Cut(kv, "="); credential.Address(name) && address != "" {
			secret.InURL(address, e.Secrets.AddLogin)
		}
	}
	for _, name := range credential.Commands() {
		setting.In(name, e.Getenv(name), secret.InURL, e.Secrets.AddLogin)
	}
	out, errs := e.Secrets.Writer(e.Stdout), e.Secrets.Writer(e.Stderr)
	e.Stdout, e.Stderr = out, errs
	return e, func() {
		// There is nobody to report this to.
		_ = out.Close()
		_ = errs.Close()
	}
}

// netrc adds the passwords of the user's netrc file.
func (e Env) netrc(s *secret.Set) {
	path := netrc.Path(e.GOOS, e.Getenv, e.Home())
	if path == "" {
		return
	}
	file, err := netrc.Read(path)
	if err != nil {
		return // unreadable values are unknown
	}
	for _, entry := range file.Entries() {
		s.AddLogin(entry.Login, entry.Password)
	}
}
