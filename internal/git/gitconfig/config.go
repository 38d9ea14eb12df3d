package gitconfig

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Entry is one variable as it was set.
type Entry struct {
	// Key is "section.name" or "section.subsection.name"; section and name are
	// in lower case.
	Key   string
	Value string
	// Older is the value as git before 2.45 reads it, if that differs: each tab or carriage return
	// outside quotes is a space.
	Older string
	// NoValue means that there was no equals sign, which git reads as true.
	NoValue bool
	// Users means that the setting is one of the user or the system, and not of a repository.
	Users bool
}

// Config is all settings, in order.
type Config []Entry

// Value returns the last value of key; "" and false if there is none.
func (c Config) Value(key string) (string, bool) {
	for _, e := range slices.Backward(c) {
		if e.Key == key {
			return e.Value, true
		}
	}
	return "", false
}

// Bool returns the last value of key as a truth value, def if it is not set.
func (c Config) Bool(key string, def bool) (bool, error) {
	for _, e := range slices.Backward(c) {
		if e.Key == key {
			if e.NoValue {
				return true, nil
			}
			v, ok := parseBool(e.Value)
			if !ok {
				return false, fmt.Errorf("read git configuration %s: %q is neither true nor false", key, e.Value)
			}
			return v, nil
		}
	}
	return def, nil
}

// parseBool reads git's words, and numbers with a unit.
func parseBool(s string) (v, ok bool) {
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off", "":
		return false, true
	}
	if last := len(s) - 1; last > 0 && strings.IndexByte("kKmMgG", s[last]) >= 0 {
		s = s[:last]
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return n != 0, err == nil
}

// Subsections yields the subsection and value of every entry
// "section.<subsection>.name" that has a value, in order.
func (c Config) Subsections(section, name string) func(yield func(subsection, value string) bool) {
	return func(yield func(subsection, value string) bool) {
		for _, e := range c {
			rest, ok := strings.CutPrefix(e.Key, section+".")
			if !ok || e.NoValue {
				continue
			}
			sub, ok := strings.CutSuffix(rest, "."+name)
			if ok && !yield(sub, e.Value) {
				return
			}
		}
	}
}

// ParseList reads the output of "git config --list -z".
func ParseList(list []byte) Config {
	var cfg Config
	for record := range strings.SplitSeq(string(list), "\x00") {
		if record != "" {
			key, value, hasValue := strings.Cut(record, "\n")
			cfg = append(cfg, Entry{Key: key, Value: value, NoValue: !hasValue})
		}
	}
	return cfg
}

// canonical converts a key in a person's spelling to an Entry's.
func canonical(key string) (string, bool) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first <= 0 || last == len(key)-1 {
		return "", false
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:]), true
}
