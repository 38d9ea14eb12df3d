// Package place says where the files of a user are, by the rules of each system.
package place

import (
	"path/filepath"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/settings"
)

// State is the folder, by name, for what is remembered between runs; "" if the
// environment names no place for it.
func State(env app.Env, name string) string {
	switch env.GOOS {
	case "windows":
		return join(env.Getenv("LOCALAPPDATA"), "copse", "state", name)
	case "darwin":
		return join(env.Home(), "Library", "Application Support", "copse", name)
	}
	if dir := join(env.Getenv("XDG_STATE_HOME"), "copse", name); dir != "" {
		return dir
	}
	return join(env.Home(), ".local", "state", "copse", name)
}

// Config is the folder for what the user decides.
func Config(env app.Env) string {
	switch env.GOOS {
	case "windows":
		return join(env.Getenv("APPDATA"), "copse")
	case "darwin":
		return join(env.Home(), "Library", "Application Support", "copse")
	}
	if dir := join(env.Getenv("XDG_CONFIG_HOME"), "copse"); dir != "" {
		return dir
	}
	return join(env.Home(), ".config", "copse")
}

// Settings is the user's settings file; "" if the environment names no place for it.
func Settings(env app.Env) string { return join(Config(env), settings.UserName) }

// join is "" unless base is an absolute path.
func join(base string, parts ...string) string {
	if !filepath.IsAbs(base) {
		return ""
	}
	return filepath.Join(append([]string{base}, parts...)...)
}
