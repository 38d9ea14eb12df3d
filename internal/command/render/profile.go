package render

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/rooted"
)

// configDir has the profiles of all agents.
const configDir = ".agent/climpt/config"

// profile is the configuration of a domain.
type profile struct {
	name       string
	workingDir string
	promptBase string
	schemaBase string
	directive  pattern
	layer      pattern
	patterns   string // the file with the patterns: app or user
	prefix     string
	limits     *limits

	// unusable means that there is only the built-in configuration.
	unusable bool
	// warning states why a file is not used.
	warning string
}

// pattern is the pattern of a name, and the message if a name does not match.
type pattern struct {
	expr    *regexp.Regexp
	message string
	builtIn bool
}

// The default patterns of a profile.
var (
	directiveTypes = lazyregexp.New(`^(to|summary|defect)$`)
	layerTypes     = lazyregexp.New(`^(project|issue|task)$`)
)

func builtInDirective() pattern {
	return pattern{directiveTypes.Get(), "Invalid directive type. Must be one of: to, summary, defect", true}
}

func builtInLayer() pattern {
	return pattern{layerTypes.Get(), "Invalid layer type. Must be one of: project, issue, task", true}
}

// maxPattern is the maximum length of a pattern.
const maxPattern = 1000

var profileName = lazyregexp.New(`^[a-zA-Z0-9-]{1,100}$`)

// newProfile creates a profile from its two files. As in the original, an unusable file gives the
// built-in patterns, and a warning. An unusable pattern is an error.
func newProfile(name string, appFile, userFile source) (*profile, error) {
	p := &profile{name: name, directive: builtInDirective(), layer: builtInLayer()}
	app, err := appFile.parse()
	if err == nil {
		err = app.checkApp()
	}
	if err != nil {
		p.unusable = true
		p.warning = fmt.Sprintf("[Warning] Configuration not found, using defaults: Failed to load configuration files profile: %s (%s/%s-app.yml: %v)", name, configDir, name, err)
		return p, nil
	}
	if err := p.take(app, "app"); err != nil {
		return nil, err
	}
	user, err := userFile.parse()
	if errors.Is(err, fs.ErrNotExist) { // it is optional
		return p, nil
	}
	if err == nil && (user.AppPrompt.lacks() || user.AppSchema.lacks()) {
		err = errors.New("app_prompt and app_schema need a base_dir")
	}
	if err != nil {
		p.warning = fmt.Sprintf("[Warning] %s/%s-user.yml is not used: %v", configDir, name, err)
		return p, nil
	}
	if err := p.take(user, "user"); err != nil {
		return nil, err
	}
	if path.IsAbs(p.promptBase) || path.IsAbs(p.schemaBase) {
		return nil, refuse("Path resolver creation failed: AbsolutePathNotAllowed")
	}
	return p, nil
}

// take applies the content of a file. As in the original, it replaces a part with two levels
// completely: an earlier file's values for it no longer count. The kind is the end of the file's name.
func (p *profile) take(f *file, kind string) error {
	if f.WorkingDir != nil {
		p.workingDir = *f.WorkingDir
	}
	if f.AppPrompt != nil {
		p.promptBase = *f.AppPrompt.BaseDir
	}
	if f.AppSchema != nil {
		p.schemaBase = *f.AppSchema.BaseDir
	}
	if two := f.Params.Two; two != nil {
		p.patterns = kind
		directive := two.DirectiveType
		if directive == nil {
			directive = two.Directive
		}
		var err error
		if p.directive, err = directive.compile("directive", builtInDirective(), p.name); err != nil {
			return err
		}
		if p.layer, err = two.LayerType.compile("layer", builtInLayer(), p.name); err != nil {
			return err
		}
	}
	if f.Options.Destination != nil {
		p.prefix = f.Options.Destination.Prefix
	}
	if f.Validation.Two != nil {
		p.limits = f.Validation.Two
	}
	return nil
}

func (w *wirePattern) compile(kind string, builtIn pattern, profile string) (pattern, error) {
	if w == nil || w.Pattern == "" {
		return builtIn, nil
	}
	if len(w.Pattern) > maxPattern {
		return pattern{}, refuse("The %s pattern of profile %s cannot be used: it has %d bytes, more than %d", kind, profile, len(w.Pattern), maxPattern)
	}
	expr, err := regexp.Compile(w.Pattern)
	if err != nil {
		return pattern{}, refuse("The %s pattern of profile %s cannot be used: %v. Go's regular expressions have no lookaround and no backreferences", kind, profile, err)
	}
	p := pattern{expr: expr, message: w.ErrorMessage}
	if p.message == "" {
		p.message = fmt.Sprintf("Invalid %s type. Must match pattern: %s", kind, w.Pattern)
	}
	return p, nil
}

// accepts checks the names of a command.
func (p *profile) accepts(id command.ID) error {
	for _, one := range []struct {
		name    string
		pattern pattern
		key     string
		longest int
	}{{id.C2, p.directive, "directiveType", longestC2}, {id.C3, p.layer, "layerType", longestC3}} {
		if !strings.HasPrefix(one.name, "-") && one.pattern.expr.MatchString(one.name) {
			continue
		}
		if one.pattern.builtIn && p.warning == "" {
			return refuse("%s/%s-user.yml has no pattern for it in params.two, so the built-in pattern applies.\n%s", configDir, p.name, one.pattern.message)
		}
		if one.pattern.builtIn || checkName("", one.name, one.longest) != nil {
			return refuse("%s", one.pattern.message)
		}
		return refuse("%s\nTo accept %q, change params.two.%s.pattern in %s/%s-%s.yml.", one.pattern.message, one.name, one.key, configDir, p.name, p.patterns)
	}
	if err := checkName("DirectiveType", id.C2, longestC2); err != nil {
		return err
	}
	return checkName("LayerType", id.C3, longestC3)
}

// allows reports whether the profile lets an argument through.
func (p *profile) allows(a arg) bool {
	if p.limits == nil {
		return true
	}
	if a.name == variable {
		return p.limits.UserVariables == nil || *p.limits.UserVariables
	}
	if p.limits.Options == nil || p.limits.ValueOptions == nil || !strings.HasPrefix(a.written, "--") {
		return true
	}
	name := strings.TrimPrefix(a.written, "--")
	return slices.Contains(*p.limits.Options, name) || slices.Contains(*p.limits.ValueOptions, name)
}

// explain adds the warning to an error that may come from what it warns of.
func (p *profile) explain(err error) error {
	refused, ok := errors.AsType[*Error](err)
	if !ok || p.warning == "" {
		return err
	}
	return &Error{Reason: p.warning + "\n" + refused.Reason, Err: refused.Err}
}

// outside says that a configured directory or a template points outside.
func (p *profile) outside(name string) error {
	return &Error{
		Reason: fmt.Sprintf("Profile %s points outside the workspace: %s", p.name, name),
		Err:    rooted.ErrOutside,
	}
}
