// Package override computes settings that protect the git program from the configuration of an
// untrusted repository, which must not choose the programs that git runs.
//
// [Fixed] are settings for every repository. [Of] adds those with names of the repository's choice,
// such as filter.<name>.clean: it gives each of them the value of the user or the system, or else
// one that runs nothing. Settings are "key=value", as "git -c" takes them; they take precedence
// over every file, and git passes them on to the git programs that it starts.
package override

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/git/gitconfig"
)

// maxSettings is the maximum number of settings on a command line.
const maxSettings = 400

// Errors for repositories in which git cannot run safely.
var (
	ErrTooMany error = tooManyError{}
	ErrName          = errors.New("the name of a program's setting contains an equals sign or a line break, which git's command line cannot override")
)

// tooManyError contains its limit without an initialization of the package.
type tooManyError struct{}

func (tooManyError) Error() string {
	return fmt.Sprintf("more than %d settings of the repository name programs", maxSettings)
}

// Fixed returns the settings for every repository. An older git ignores settings that it does not
// know. Programs without an empty value become "false", which does nothing and fails.
func Fixed() []string {
	null := os.DevNull
	return []string{
		// Empty is off in every release; before 2.36 "false" was the name of a program.
		"core.fsmonitor=",
		"core.hooksPath=" + null,
		"core.pager=cat", "core.editor=false", "sequence.editor=false", "core.askPass=",
		"core.sshCommand=false", "core.gitProxy=none", "core.alternateRefsCommand=false",
		"credential.helper=", "protocol.allow=never", "protocol.ext.allow=never",
		"diff.external=false", "diff.orderFile=" + null, "diff.submodule=short",
		"gpg.program=false", "gpg.openpgp.program=false", "gpg.x509.program=false",
		"gpg.ssh.program=false", "gpg.ssh.defaultKeyCommand=false",
		// Comparing would write to the index.
		"diff.autoRefreshIndex=false",
		"log.showSignature=false", "log.mailmap=false", "mailmap.file=", "mailmap.blob=",
		"status.submoduleSummary=false", "status.showStash=false", "submodule.recurse=false",
		"gc.auto=0", "maintenance.auto=false",
		// Git's own limits: it waits for a lock, and starts processes, as long and as many as it is told.
		"core.filesRefLockTimeout=100", "core.packedRefsTimeout=1000", "reftable.lockTimeout=100", "checkout.workers=1",
		"color.ui=false", "i18n.logOutputEncoding=UTF-8",
	}
}

// rule defines the override for a kind of setting. Section and name are in lower case; any name can
// be between them.
type rule struct{ section, name, value string }

var rules = []rule{
	{"filter", "clean", ""},
	{"filter", "smudge", ""},
	{"filter", "process", ""},
	{"filter", "required", "false"},
	{"diff", "command", "false"},
	{"diff", "textconv", "false"},
	{"merge", "driver", "false"},
	{"credential", "helper", ""},
	{"gpg", "program", "false"},
	{"remote", "uploadpack", "false"},
	{"remote", "receivepack", "false"},
	{"submodule", "update", "none"},
	{"trailer", "command", "false"},
	{"trailer", "cmd", "false"},
	{"pager", "", "false"},
	{"difftool", "cmd", "false"},
	{"mergetool", "cmd", "false"},
	// The user's own git-lfs runs these in its filter, and reads them where git does.
	{"lfs", "clean", ""},
	{"lfs", "smudge", ""},
	{"lfs", "path", ""},
	{"lfs", "standalonetransferagent", ""},
}

// harmless returns the value with which a setting of the repository runs nothing; ok means that the
// setting names a program.
func harmless(key string) (value string, ok bool) {
	section, rest, _ := strings.Cut(key, ".")
	for _, r := range rules {
		if r.section == section && (r.name == "" || rest == r.name || strings.HasSuffix(rest, "."+r.name)) {
			return r.value, true
		}
	}
	return "", false
}

// Of returns the settings that override the programs in own, all settings of the repository's
// files. It restores the user's values for the same settings; it reads them only if necessary.
func Of(own gitconfig.Config, users func() (gitconfig.Config, error)) ([]string, error) {
	users = sync.OnceValues(users)
	var settings []string
	done := map[string]bool{}
	set := func(key, value string) {
		done[key] = true
		settings = append(settings, key+"="+value)
	}
	for _, e := range own {
		if name, ok := hook(e.Key); ok && !done[name+".enabled"] {
			set(name+".enabled", "false") // all hooks are off, including the user's
			set(name+".event", "")
		}
		value, ok := harmless(e.Key)
		if !ok || done[e.Key] {
			continue
		}
		theirs, err := users()
		if err != nil {
			return nil, err
		}
		if before, ok := last(theirs, e.Key); ok {
			value = before
		}
		set(e.Key, value)
		if len(settings) > maxSettings {
			return nil, ErrTooMany
		}
	}
	for key := range done {
		if strings.ContainsAny(key, "=\n") {
			return nil, ErrName
		}
	}
	return settings, nil
}

// hook returns the part of a key "hook.<name>.<key>" that all settings of a hook share.
func hook(key string) (string, bool) {
	end := strings.LastIndexByte(key, '.')
	return key[:max(end, 0)], end > len("hook.") && strings.HasPrefix(key, "hook.")
}

// last returns the value of a key on a command line.
func last(cfg gitconfig.Config, key string) (string, bool) {
	for _, e := range slices.Backward(cfg) {
		if e.Key == key {
			if e.NoValue {
				return "true", true
			}
			return e.Value, true
		}
	}
	return "", false
}
