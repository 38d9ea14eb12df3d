package render

import (
	"errors"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/yamlfile"
)

// maxConfig is the maximum size of a configuration file.
const maxConfig = yamlfile.MaxSize

// file is a configuration file. The two files of a profile have the same form.
type file struct {
	WorkingDir *string `yaml:"working_dir"`
	AppPrompt  *base   `yaml:"app_prompt"`
	AppSchema  *base   `yaml:"app_schema"`
	Params     struct {
		Two *struct {
			DirectiveType *wirePattern `yaml:"directiveType"`
			Directive     *wirePattern `yaml:"DirectiveType"`
			LayerType     *wirePattern `yaml:"layerType"`
		} `yaml:"two"`
	} `yaml:"params"`
	Options struct {
		Destination *struct {
			Prefix string `yaml:"prefix"`
		} `yaml:"destination"`
	} `yaml:"options"`
	Validation struct {
		Two *limits `yaml:"two"`
	} `yaml:"validation"`
}

type base struct {
	BaseDir *string `yaml:"base_dir"`
}

type wirePattern struct {
	Pattern      string `yaml:"pattern"`
	ErrorMessage string `yaml:"errorMessage"`
}

// limits are the arguments that a profile allows: variables unless it forbids them, and of the
// options, which it knows only by their long names, those of the two lists, if it has both.
type limits struct {
	Options       *[]string `yaml:"allowedOptions"`
	ValueOptions  *[]string `yaml:"allowedValueOptions"`
	UserVariables *bool     `yaml:"allowUserVariables"`
}

// parse reads the content of a configuration file.
func (s source) parse() (*file, error) {
	if s.err != nil {
		return nil, s.err
	}
	values, err := yamlfile.Decode[file]([]byte(s.content))
	if err != nil {
		return nil, fmt.Errorf("not usable YAML: %w", err)
	}
	return &values, nil
}

func (b *base) lacks() bool { return b != nil && b.BaseDir == nil }

// checkApp checks the required content of the first file.
func (f *file) checkApp() error {
	if f.WorkingDir == nil || f.AppPrompt == nil || f.AppPrompt.BaseDir == nil || f.AppSchema == nil || f.AppSchema.BaseDir == nil {
		return errors.New("working_dir, app_prompt.base_dir, and app_schema.base_dir are required")
	}
	for _, dir := range []string{*f.WorkingDir, *f.AppPrompt.BaseDir, *f.AppSchema.BaseDir} {
		if trim(dir) == "" || strings.Contains(dir, "..") || strings.HasPrefix(dir, "/") || strings.ContainsAny(dir, `<>:"|?*`) {
			return fmt.Errorf("%q is not a directory below the workspace", dir)
		}
	}
	return nil
}
