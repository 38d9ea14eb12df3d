// Package catalog maintains a registry of prompts: it builds registry.json from the front matter of
// the templates, checks both, and creates a first registry.
//
// [Build] returns the same bytes as the generator of climpt 1.13 (deno run
// jsr:@aidevtool/climpt/reg) for the same templates.
package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/yamlfile"
)

// The generator's values at the top of each registry.
const (
	version     = "1.0.0"
	description = "Climpt comprehensive configuration for MCP server and command registry"
)

// Limits of the files.
const (
	maxTemplate = 1 << 20
	maxFront    = yamlfile.MaxSize
	maxRegistry = 32 << 20
	maxDepth    = 12 // of directories
)

// Built is a newly built registry.
type Built struct {
	// JSON is the content of the file.
	JSON []byte
	// Entries are its commands, with their templates.
	Entries []Entry
	// Skipped are templates that define no command, or whose front matter is partly ignored.
	Skipped []Finding
}

// Entry is a command of one template.
type Entry struct {
	File                    string
	C1, C2, C3, Description string
}

// Finding is a problem of a file.
type Finding struct {
	File    string `json:"file"` // from the workspace, with slashes
	Message string `json:"message"`
}

// RegistryFile returns the path of an agent's registry, and PromptsDir that of its templates,
// from the workspace.
func RegistryFile(agent string) string { return ".agent/" + agent + "/registry.json" }
func promptsDir(agent string) string   { return ".agent/" + agent + "/prompts" }

// ErrNoTemplates reports that there are no templates.
var ErrNoTemplates = errors.New("there are no templates with front matter")

// Build builds the registry of an agent. The error can be ErrNoTemplates.
func Build(root *rooted.Root, agent string) (Built, error) {
	b := &builder{root: root}
	if err := b.directory(promptsDir(agent), 0); err != nil {
		return Built{}, err
	}
	slices.Sort(b.files)
	for _, file := range b.files {
		b.template(file)
	}
	if len(b.commands) == 0 {
		return Built{Skipped: b.built.Skipped}, fmt.Errorf("%w in %s", ErrNoTemplates, promptsDir(agent))
	}
	b.built.JSON = b.encode()
	return b.built, nil
}

type builder struct {
	root     *rooted.Root
	files    []string
	domains  []string
	commands []json.RawMessage
	built    Built
}

func (b *builder) skip(file, format string, args ...any) {
	b.built.Skipped = append(b.built.Skipped, Finding{file, fmt.Sprintf(format, args...)})
}

// directory collects the templates of a directory and its subdirectories. It does not follow links.
func (b *builder) directory(name string, depth int) error {
	list, err := b.root.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read directory %q: %w", name, err)
	}
	for _, d := range list {
		inner := path.Join(name, d.Name())
		switch {
		case d.IsDir() && depth < maxDepth:
			if err := b.directory(inner, depth+1); err != nil {
				return err
			}
		case d.IsDir():
			b.skip(inner, "is too deep")
		case d.Type()&fs.ModeSymlink != 0:
			b.skip(inner, "is a link, which is not followed")
		case strings.HasSuffix(d.Name(), ".md"):
			b.files = append(b.files, inner)
		}
	}
	return nil
}

var front = lazyregexp.New(`^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)`)

// template adds the command of one template.
func (b *builder) template(file string) {
	data, err := b.root.Read(file, maxTemplate)
	if err != nil {
		b.skip(file, "cannot be read: %v", err)
		return
	}
	match := front.Get().FindSubmatch(data)
	if match == nil {
		b.skip(file, "has no front matter, so it defines no prompt")
		return
	}
	if len(match[1]) > maxFront {
		b.skip(file, "has %d bytes of front matter; the limit is %d", len(match[1]), maxFront)
		return
	}
	fields, err := yamlfile.Decode[yaml.MapSlice](match[1])
	if err != nil {
		b.skip(file, "has front matter that is not YAML: %v", err)
		return
	}
	b.command(file, fields)
}

// The form of the names of a command.
var (
	word   = lazyregexp.New(`^[a-z]+(-[a-z]+)?$`)
	target = lazyregexp.New(`^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$`)
)

// command adds a command from its front matter. A missing value is an empty string, whatever its
// type.
func (b *builder) command(file string, fields yaml.MapSlice) {
	name := func(key string, pattern *regexp.Regexp) string {
		s, _ := get(fields, key).(string)
		if !pattern.MatchString(s) {
			b.skip(file, "has the %s %q, which does not match %s and is left empty", key, s, pattern)
			return ""
		}
		return s
	}
	e := Entry{File: file, C1: name("c1", word.Get()), C2: name("c2", word.Get()), C3: name("c3", target.Get())}
	e.Description, _ = get(fields, "description").(string)
	options, _ := get(fields, "options").(yaml.MapSlice)
	list := func(key string) json.RawMessage {
		switch v := get(options, key).(type) {
		case nil, []any:
			return encode(v)
		default:
			return encode([]any{v})
		}
	}
	uv := get(fields, "uv")
	if one, ok := uv.(yaml.MapSlice); ok {
		uv = []any{one}
	}
	b.commands = append(b.commands, object(
		"c1", encode(e.C1), "c2", encode(e.C2), "c3", encode(e.C3),
		"description", encode(get(fields, "description")), "usage", encode(get(fields, "usage")),
		"options", object(
			"edition", list("edition"), "adaptation", list("adaptation"), "file", encode(get(options, "file")),
			"stdin", encode(get(options, "stdin")), "destination", encode(get(options, "destination")),
		),
		"uv", encode(uv),
	))
	if e.C1 != "" && !slices.Contains(b.domains, e.C1) {
		b.domains = append(b.domains, e.C1)
	}
	b.built.Entries = append(b.built.Entries, e)
}

// get returns a field, nil if there is none.
func get(fields yaml.MapSlice, key string) any {
	for _, f := range fields {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}

// encode returns a value as JSON, with the keys of objects in their order; nil is an empty string.
func encode(v any) json.RawMessage {
	switch v := v.(type) {
	case nil:
		return json.RawMessage(`""`)
	case yaml.MapSlice:
		var pairs []any
		for _, f := range v {
			pairs = append(pairs, fmt.Sprint(f.Key), encode(f.Value))
		}
		return object(pairs...)
	case []any:
		list := make([]json.RawMessage, len(v))
		for i, e := range v {
			list[i] = encode(e)
		}
		return marshal(list)
	}
	return marshal(v)
}

func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // infinite numbers
		return json.RawMessage(`""`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// object returns an object of alternating names and raw values.
func object(pairs ...any) json.RawMessage {
	b := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, marshal(pairs[i])...), ':')
		b = append(b, pairs[i+1].(json.RawMessage)...) // in turns
	}
	return append(b, '}')
}

// encode returns the whole file.
func (b *builder) encode() []byte {
	whole := object(
		"version", marshal(version), "description", marshal(description),
		"tools", object("availableConfigs", marshal(append([]string{}, b.domains...)), "commands", marshal(b.commands)),
	)
	var out bytes.Buffer
	if err := json.Indent(&out, whole, "", "  "); err != nil {
		return whole
	}
	return out.Bytes()
}

// lockWait is how long Write waits for another writer of the same registry.
const lockWait = 10 * time.Second

// Write saves a registry in the workspace at dir. changed is false if it is already up to date.
func Write(ctx context.Context, dir, agent string, content []byte) (changed bool, err error) {
	name := RegistryFile(agent)
	if old, err := rooted.Directory(dir).Read(name, maxRegistry); err == nil && bytes.Equal(old, content) {
		return false, nil
	}
	err = lockedstore.EditIn(ctx, rooted.Dir{Wall: dir, Name: path.Dir(name)}, path.Base(name), lockWait, func([]byte) ([]byte, error) { return content, nil })
	if errors.Is(err, rooted.ErrOutside) {
		err = errors.New("a symbolic link points outside the workspace; replace the link with a file")
	}
	if err != nil {
		return false, fmt.Errorf("write %s: %w", RegistryFile(agent), err)
	}
	return true, nil
}
