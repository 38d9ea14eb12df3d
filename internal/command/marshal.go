package command

import (
	"bytes"
	"encoding/json"
)

// MarshalJSON returns the description of the command: c1, c2, c3, description,
// usage, options, uv as a list of name and description, and the unknown fields.
func (c Command) MarshalJSON() ([]byte, error) {
	return object(struct {
		C1          string     `json:"c1"`
		C2          string     `json:"c2"`
		C3          string     `json:"c3"`
		Description string     `json:"description"`
		Usage       string     `json:"usage"`
		Options     Options    `json:"options"`
		UV          []Variable `json:"uv"`
	}{c.C1, c.C2, c.C3, c.Description, c.Usage, c.Options, present(c.UV)}, c.Unknown)
}

// MarshalJSON returns the options in the form of a registry; absent ones as empty lists and false.
func (o Options) MarshalJSON() ([]byte, error) {
	return object(struct {
		Edition     []string `json:"edition"`
		Adaptation  []string `json:"adaptation"`
		File        bool     `json:"file"`
		Stdin       bool     `json:"stdin"`
		Destination bool     `json:"destination"`
	}{present(o.Edition), present(o.Adaptation), o.File, o.Stdin, o.Destination}, o.Unknown)
}

// present replaces a nil list, which would be encoded as null, with an empty one.
func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// object encodes the struct known, with more members at its end. The caller's encoder decides
// whether to escape <, >, and &.
func object(known any, more []Field) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(known); err != nil {
		return nil, err
	}
	b.Truncate(b.Len() - len("}\n"))
	for _, f := range more {
		b.WriteByte(',')
		if err := enc.Encode(f.Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		b.Write(f.Value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Describe returns the form of a command in JSON, for references: it has fields that only its
// registry knows, too.
func (Command) Describe() string {
	return "{c1, c2, c3, description, usage, options: {edition: […], adaptation: […], file, stdin, destination}, uv: [{name, description}], …}"
}
