// Package export writes the commands of a registry into the directory of a client's own commands,
// for users who type "/" there; into its directory of skills; and into a section of AGENTS.md.
//
// [Plan] compares the intended files with the existing ones; [Plan.Write] writes them. An exported
// file ends with a mark that has a hash of the file. By this mark, copse recognizes a file that a
// person has changed, which it does not touch, and a file whose command no longer exists, which it
// removes.
package export

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/command"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/render"
	"github.com/copse-dev/copse/internal/command/skill"
	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// Command is a command with its prompt, in which variables have the client's form.
type Command struct {
	Agent string
	command.Command
	// Prompt renders the template with these values, by variable names; input_text is one of them.
	Prompt func(ctx context.Context, values map[string]string) (string, error)
	// Plain renders the template without values.
	Plain func() (render.Result, error)
}

// State is the state of a file.
type State string

// The states of a file. Write writes only missing and stale files, and removes those of deleted
// commands.
const (
	Current State = "current"
	Missing State = "missing"
	Stale   State = "stale"
	Edited  State = "edited"
	Gone    State = "gone"    // of a command that no longer exists
	Refused State = "refused" // of a command that the client's files cannot hold; File.Problem says why
)

// File is a file of a plan.
type File struct {
	Name  string `json:"name"` // from the base directory, with slashes
	State State  `json:"state"`
	// Section means that the file is a person's, with a section of copse.
	Section bool `json:"section,omitempty"`
	// Problem says why a file is refused.
	Problem string `json:"problem,omitempty"`

	content string
	// before is the content of a file with a section; missing means that there is no file.
	before  []byte
	missing bool
}

// Plan is the intended change.
type Plan struct {
	Files []File
	base  string
}

// New compares the commands with the files below base, which is the workspace or, for a client with
// user-wide commands, the home directory. A command that cannot be rendered blocks no other: its file
// is refused. The section of AGENTS.md has the advice for assistants, too.
func New(ctx context.Context, client Client, base string, commands []Command, advice ...string) (*Plan, error) {
	if client.section {
		return agentsPlan(base, section(advice, commands))
	}
	p := &Plan{base: base}
	root, err := regular.OpenRoot(base)
	if err != nil {
		return nil, errors.New("copse cannot open the directory of the prompts")
	}
	defer root.Close()
	wanted := make(map[string]bool)
	var names skill.Names
	for _, c := range commands {
		word := fileName(c)
		if client.skills {
			word = names.Of(words(c)...)
		}
		name := client.file(word)
		if wanted[name] {
			continue
		}
		wanted[name] = true
		f := File{Name: name}
		content, err := client.render(ctx, word, c)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f.content = content + client.mark(content, c)
		switch size := len(f.content); {
		case err != nil:
			f.State, f.Problem = Refused, err.Error()
		case size > maxFile:
			f.State, f.Problem = Refused, fmt.Sprintf("the file would have %d bytes; the limit is %d; shorten the template", size, maxFile)
		default:
			if f.State, err = state(root, f); err != nil {
				return nil, err
			}
		}
		p.Files = append(p.Files, f)
	}
	gone, err := p.gone(root, client, wanted)
	p.Files = append(p.Files, gone...)
	slices.SortFunc(p.Files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return p, err
}

// words returns the words of a command's name, with the agent if it is not the default.
func words(c Command) []string {
	name := []string{c.C1, c.C2, c.C3}
	if c.Agent != library.DefaultAgent {
		name = append([]string{c.Agent}, name...)
	}
	return name
}

// fileName returns the text that a person types after "/".
func fileName(c Command) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, strings.Join(words(c), "-"))
}

// marked is the mark at the end of a file.
var marked = lazyregexp.New(`(?:<!--|#) copse: from [^\n]* sha256:([0-9a-f]{16})(?: -->)?\n$`)

func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:8])
}

// maxFile is the maximum size of a file that copse writes. Earlier versions wrote larger ones, which
// copse removes or replaces if they have at most maxRead bytes.
const (
	maxFile = 1 << 20
	maxRead = 4 << 20
)

// state compares a file with its intended content.
func state(root *os.Root, f File) (State, error) {
	old, err := regular.ReadIn(root, filepath.FromSlash(f.Name), maxRead)
	_, tooLarge := errors.AsType[*regular.TooLargeError](err)
	switch {
	case tooLarge:
		return Edited, nil
	case errors.Is(err, fs.ErrNotExist):
		return Missing, nil
	case err != nil:
		return "", fmt.Errorf("read %s: %w", f.Name, rooted.WithoutPath(err))
	case string(old) == f.content:
		return Current, nil
	case ours(string(old)):
		return Stale, nil
	}
	return Edited, nil
}

// ours reports whether a file is unchanged since copse wrote it.
func ours(content string) bool {
	at := marked.Get().FindStringSubmatchIndex(content)
	return at != nil && content[at[2]:at[3]] == hash(content[:at[0]])
}

// gone returns the exported files of commands that no longer exist.
func (p *Plan) gone(root *os.Root, client Client, wanted map[string]bool) ([]File, error) {
	list, err := regular.ReadDirIn(root, client.directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", client.directory, rooted.WithoutPath(err))
	}
	var files []File
	for _, d := range list {
		word, isFile := strings.CutSuffix(d.Name(), client.extension)
		if client.skills {
			word, isFile = d.Name(), d.IsDir()
		} else {
			isFile = isFile && d.Type().IsRegular()
		}
		name := client.file(word)
		if wanted[name] || !isFile {
			continue
		}
		if content, err := regular.ReadIn(root, filepath.FromSlash(name), maxRead); err == nil && ours(string(content)) {
			files = append(files, File{Name: name, State: Gone})
		}
	}
	return files, nil
}

// Stale reports whether there is a change to make.
func (p *Plan) Stale() bool {
	return slices.ContainsFunc(p.Files, func(f File) bool { return f.State == Missing || f.State == Stale || f.State == Gone })
}

// Refused returns the number of commands that the client's files cannot hold.
func (p *Plan) Refused() int {
	n := 0
	for _, f := range p.Files {
		if f.State == Refused {
			n++
		}
	}
	return n
}

// Write makes the change; with force, it replaces edited files, too.
func (p *Plan) Write(force bool) error {
	root, err := regular.OpenRoot(p.base)
	if err != nil {
		return errors.New("copse cannot open the directory of the prompts")
	}
	defer root.Close()
	for _, f := range p.Files {
		err := rooted.CheckWrite(root, f.Name)
		switch {
		case err != nil:
		case f.Section && (f.State == Missing || f.State == Stale || f.State == Gone || f.State == Edited && force):
			err = p.writeSection(root, f)
		case f.State == Gone:
			if err = root.Remove(filepath.FromSlash(f.Name)); err == nil {
				for dir := path.Dir(f.Name); dir != "."; dir = path.Dir(dir) {
					_ = root.Remove(filepath.FromSlash(dir)) // if it is empty now
				}
			}
		case f.State == Missing, f.State == Stale, f.State == Edited && force:
			err = replace(root, f)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", f.Name, rooted.WithoutPath(err))
		}
	}
	return nil
}

// replace puts a complete file in place.
func replace(root *os.Root, f File) error {
	name := filepath.FromSlash(f.Name)
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	temporary := filepath.Join(filepath.Dir(name), ".copse.new")
	if err := root.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = file.WriteString(f.content)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return root.Rename(temporary, name)
}
