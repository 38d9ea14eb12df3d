// Package render renders the prompt of a command from its template, by the rules of climpt 1.13
// (github.com/tettuan/climpt): which profile, which template, and which variables apply, and what
// it removes.
//
// Use [Render]. It reads below one directory, a workspace or a home, and guarantees
// that
//
//   - it reads nothing outside that directory, whatever an edition, adaptation, profile, or link
//     names (see package rooted);
//   - a value is data: an input text or the value of a variable is inserted unchanged, never
//     searched for variables again, and never parsed as front matter;
//   - its time is proportional to the size of the texts, which is limited: [MaxTemplate],
//     [MaxInput], [MaxPrompt];
//   - a refusal is an [*Error], with the message of the original where it has one. Its paths are
//     relative to the directory.
//
// The caller checks that a registry has the command.
package render

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/rooted"
)

// Files is the directory that has .agent, or what may be read of it. Names are from it, with
// slashes; the errors are those of package rooted.
type Files interface {
	Read(name string, limit int64) ([]byte, error)
	Stat(name string) (fs.FileInfo, error)
}

var _ Files = rooted.Look{}

// Workspace is where a command is rendered.
type Workspace struct {
	Root Files
	// Path is the absolute path of the directory, for the variables that are paths.
	Path string
	// Dir is the absolute path that input files and destinations are relative to.
	Dir string
	// Profiles are those of Root with their templates, kept from call to call; nil keeps none.
	Profiles *Profiles
}

// Request is a command to render.
type Request struct {
	Agent string
	ID    command.ID
	Args  Args
	// InputText is what the original reads on standard input.
	InputText string
}

// Result is a prompt.
type Result struct {
	Prompt string
	// Missing are variables that have no value and were left as they are; the last one is "…" if there
	// are more.
	Missing []string
	// Unused are the given variables, such as uv-style, that the template does not have. They are unknown
	// if another program renders the prompt.
	Unused []string
}

// Hidden returns a warning of the characters of a prompt that nobody sees, and that a reader may obey; "" if there
// are none. The prompt contains them, because a template is used as it is.
func (r Result) Hidden() string {
	names := foreign.HiddenIn(r.Prompt)
	if names == "" {
		return ""
	}
	return "The prompt has control or invisible characters, which this text includes unchanged: " + names + ". Check the template and the values before you follow it."
}

// Error says why there is no prompt.
type Error struct {
	// Reason is one or more lines.
	Reason string
	Err    error // for errors.Is
}

func (e *Error) Error() string { return e.Reason }
func (e *Error) Unwrap() error { return e.Err }

func refuse(format string, args ...any) error { return &Error{Reason: fmt.Sprintf(format, args...)} }

// DefaultAgent is the one whose commands' profiles are named after their domains.
const DefaultAgent = "climpt"

// Bytes of a template, of all texts of a request together, and of a prompt.
const (
	MaxTemplate = 1 << 20
	MaxInput    = 1 << 20
	MaxPrompt   = 4 << 20
)

// Profile returns the name of the configuration for a command.
func Profile(agent string, id command.ID) string {
	if agent == DefaultAgent {
		return id.C1
	}
	return agent + "-" + id.C1
}

// Render renders a command.
func Render(p Workspace, r Request) (Result, error) {
	if err := r.checkTexts(); err != nil {
		return Result{}, err
	}
	profiles := p.Profiles
	if profiles == nil {
		profiles = &Profiles{}
	}
	profile, err := profiles.load(p.Root, Profile(r.Agent, r.ID))
	if err != nil {
		return Result{}, err
	}
	if err := r.Args.check(profile, r.ID); err != nil {
		return Result{}, profile.explain(err)
	}
	dir, text, err := profile.template(keptTexts{p.Root, profiles}, r.ID, r.Args)
	if err != nil {
		return Result{}, err
	}
	return substitute(text, p.variables(profile, r, dir))
}

// Check checks what does not depend on a profile, for a renderer that does not know
// it. The error is an [*Error].
func (r Request) Check() error {
	if err := r.checkTexts(); err != nil {
		return err
	}
	if !profileName.Get().MatchString(Profile(r.Agent, r.ID)) {
		return refuse("Invalid profile name %q: it is the agent and the domain, of letters, digits, and hyphens", Profile(r.Agent, r.ID))
	}
	if err := checkName("DirectiveType", r.ID.C2, longestC2); err != nil {
		return err
	}
	if err := checkName("LayerType", r.ID.C3, longestC3); err != nil {
		return err
	}
	if err := r.Args.checkForm(r.ID); err != nil {
		return err
	}
	return r.Args.checkOptions(&profile{})
}

func (r Request) checkTexts() error {
	size, valid := len(r.InputText), utf8.ValidString(r.InputText)
	for _, a := range r.Args {
		size += len(a.written) + len(a.value)
		valid = valid && utf8.ValidString(a.written) && utf8.ValidString(a.value)
	}
	switch {
	case size > MaxInput:
		return refuse("The input has %d bytes; the limit is %d", size, MaxInput)
	case !valid:
		return refuse("The input is not UTF-8 text")
	}
	return nil
}

// template finds and reads the template, and returns the name of its directory.
func (p *profile) template(root Files, id command.ID, args Args) (dir, text string, err error) {
	if p.unusable {
		return "", "", p.explain(refuse("Template path resolution failed: BaseDirectoryNotFound"))
	}
	if p.warning != "" { // without that file it might be another template
		return "", "", p.explain(refuse("Correct the file, or remove it"))
	}
	base := path.Join(p.workingDir, p.promptBase)
	if !filepath.IsLocal(base) {
		return "", "", p.outside(base)
	}
	dir = path.Join(base, id.C2, id.C3)
	tried, err := candidates(dir, args)
	if err != nil {
		return "", "", err
	}
	for _, name := range tried {
		data, err := root.Read(name, MaxTemplate)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, rooted.ErrOutside):
			return "", "", p.outside(name)
		case err != nil:
			return "", "", &Error{Reason: fmt.Sprintf("Template %s cannot be read: %v", name, err), Err: err}
		case !utf8.Valid(data):
			return "", "", refuse("Template %s is not UTF-8 text", name)
		}
		return dir, string(data), nil
	}
	if err := p.directories(root, base, id); err != nil {
		return "", "", err
	}
	if len(tried) == 1 {
		return "", "", refuse("Template not found: %s", tried[0])
	}
	return "", "", refuse("Template not found: %s\nAttempted paths: %s\nFallback: Attempted fallback to base template", tried[0], strings.Join(tried, ", "))
}

// directories says which directory of a template that was not found is missing.
func (p *profile) directories(root Files, base string, id command.ID) error {
	if info, err := root.Stat(base); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return p.explain(refuse("There is no directory %s, which app_prompt.base_dir names in the configuration\nTemplate path resolution failed: BaseDirectoryNotFound", base))
	}
	for _, step := range []struct{ dir, what, shown string }{
		{path.Join(base, id.C2), "directive", id.C2}, {path.Join(base, id.C2, id.C3), "layer", id.C2 + "/" + id.C3},
	} {
		info, err := root.Stat(step.dir)
		switch {
		case errors.Is(err, rooted.ErrOutside):
			return p.outside(step.dir)
		case err != nil || !info.IsDir():
			return p.explain(refuse("Template not found: %s/ (%s directory missing)\nFallback: Directory structure incomplete: missing %s directory '%s/'",
				step.dir, step.what, step.what, step.shown))
		}
	}
	return nil
}

// candidates returns the names of the template that was asked for, and of the one to fall back to.
func candidates(dir string, args Args) ([]string, error) {
	edition, adaptation := args.last(edition), args.last(adaptation)
	for _, part := range []struct{ name, value string }{{"edition", edition}, {"adaptation", adaptation}} {
		if strings.ContainsAny(part.value, `/\`) || strings.Contains(part.value, "..") || strings.ContainsFunc(part.value, isControl) {
			return nil, refuse("Invalid %s %q: it is a part of a file name, without slashes or two dots", part.name, part.value)
		}
	}
	if edition == "" {
		edition = "default"
	}
	base := path.Join(dir, "f_"+edition+".md")
	if adaptation == "" {
		return []string{base}, nil
	}
	return []string{path.Join(dir, "f_"+edition+"_"+adaptation+".md"), base}, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// variables returns the values by their names.
func (p Workspace) variables(profile *profile, r Request, dir string) map[string]string {
	values := map[string]string{"base_prompt_dir": p.path(dir)}
	if text := trim(r.InputText); text != "" {
		values["input_text"] = text
	}
	if file := r.Args.last(inputFile); file != "" && file != "-" {
		values["input_text_file"] = absolute(p.Dir, strings.ReplaceAll(file, `\`, "/"))
	}
	if destination := profile.prefix + r.Args.last(destination); destination != "" {
		values["destination_path"] = absolute(filepath.Join(p.Dir, filepath.FromSlash(profile.workingDir)), destination)
	}
	schema := path.Join(profile.workingDir, profile.schemaBase, r.ID.C2, r.ID.C3, "base.schema.md")
	if info, err := p.Root.Stat(schema); err == nil && info.Mode().IsRegular() {
		values["schema_file"] = p.path(schema)
	} else {
		values["schema_file"] = fmt.Sprintf("%s/%s/%s/f_%s.json", profile.schemaBase, r.ID.C2, r.ID.C3, r.ID.C3)
	}
	for _, a := range r.Args {
		if a.name == variable {
			values[strings.TrimPrefix(a.written, "--")] = trim(a.value)
		}
	}
	return values
}

// path returns the absolute path of a name in the directory.
func (p Workspace) path(name string) string { return filepath.Join(p.Path, filepath.FromSlash(name)) }

func absolute(dir, file string) string {
	file = filepath.FromSlash(file)
	if filepath.IsAbs(file) { // a configured prefix can be
		return filepath.Clean(file)
	}
	return filepath.Join(dir, file)
}

// trim takes off what JavaScript takes for white space.
func trim(s string) string { return strings.TrimFunc(s, isSpace) }

func isSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ', r == 0xa0, r == 0x1680, r >= 0x2000 && r <= 0x200a,
		r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000, r == 0xfeff:
		return true
	}
	return false
}
