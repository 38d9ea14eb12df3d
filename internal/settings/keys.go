package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/suggest"
	"github.com/copse-dev/copse/internal/yamlfile"
)

// Key is a setting, for documentation and for checks.
type Key struct {
	Name    string // "commands.runner"
	Form    string // of its value
	Default string // "" if it has none
	Doc     string
	// Shared means that a repository's file can set it.
	Shared bool
}

// Keys lists all settings by name.
func Keys() []Key {
	shared := keysOf[Repository]()
	all := keysOf[User]()
	for i, k := range all {
		all[i].Shared = has(shared, k.Name)
	}
	return all
}

func has(list []Key, name string) bool {
	return slices.ContainsFunc(list, func(k Key) bool { return k.Name == name })
}

// keysOf lists the keys of a file by name.
func keysOf[T User | Repository]() []Key {
	list := fields(reflect.TypeFor[T](), "")
	slices.SortFunc(list, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// fields lists the keys of a struct: its fields with a form, and those of nested structs.
func fields(t reflect.Type, prefix string) []Key {
	var list []Key
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch form := f.Tag.Get("form"); {
		case form != "":
			list = append(list, Key{Name: prefix + name, Form: form, Default: f.Tag.Get("default"), Doc: f.Tag.Get("doc")})
		case f.Anonymous:
			list = append(list, fields(f.Type, prefix)...)
		default:
			list = append(list, fields(f.Type, prefix+name+".")...)
		}
	}
	return list
}

// Warning names a part of a file that copse ignores.
type Warning struct {
	File    string
	Line    int
	Problem string
}

func (w Warning) String() string { return fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Problem) }

// maxWarnings is the number of unusable keys of one file that are named.
const maxWarnings = 10

// reader knows the effective keys of a file.
type reader struct {
	file   string // its name for people
	known  []Key
	others []Key  // effective in the user's file
	user   string // the path of that file
}

// ignored returns a warning for each key without effect.
func (r reader) ignored(data []byte) ([]Warning, error) {
	group := func(path []string) bool {
		name := dotted(path)
		return slices.ContainsFunc(slices.Concat(r.known, r.others), func(k Key) bool { return strings.HasPrefix(k.Name, name+".") })
	}
	found, err := yamlfile.Keys(data, group)
	if err != nil {
		return nil, err
	}
	var list []Warning
	for _, key := range found {
		name := dotted(key.Path)
		w := Warning{File: r.file, Line: key.Line}
		switch {
		case has(r.known, name) || group(key.Path):
			continue
		case has(r.others, name):
			w.Problem = fmt.Sprintf("%s is ignored, because a repository cannot set it; set it in your own settings, %s", name, r.user)
		default:
			known := names(r.known)
			if near := suggest.Near(name, known); len(near) > 0 {
				known = near
			}
			w.Problem = fmt.Sprintf("%s is ignored, because there is no such setting; use %s", name, strings.Join(known, ", "))
		}
		list = append(list, w)
	}
	if more := len(list) - maxWarnings; more > 0 {
		list = list[:maxWarnings]
		list[maxWarnings-1].Problem += fmt.Sprintf(" (and %d more)", more)
	}
	return list, nil
}

// maxPart is the number of characters of a key's part that a message shows.
const maxPart = 80

// dotted returns the name of a key, for a message. It quotes a part that is not a plain word, as those of
// settings are.
func dotted(path []string) string {
	parts := slices.Clone(path)
	for i, p := range parts {
		if parts[i] = foreign.Mention(cleantext.Cut(p, maxPart)); strings.Contains(p, ".") {
			parts[i] = strconv.Quote(cleantext.Cut(p, maxPart))
		}
	}
	return strings.Join(parts, ".")
}

func names(keys []Key) []string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.Name
	}
	return list
}
