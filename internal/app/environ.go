package app

import (
	"github.com/copse-dev/copse/internal/git/ownpath"
	"github.com/copse-dev/copse/internal/xec"
)

// Inherit sets Environ to an environment without the directories on its PATH that the project of Dir
// contains: no program of the project runs in place of one that copse looks up.
func (e *Env) Inherit(environ []string) {
	e.Environ, e.inherited = environ, nil
	if own := ownpath.Without(environ, e.Dir); own.Get("PATH") != xec.Env(environ).Get("PATH") {
		e.Environ, e.inherited = own, environ
	}
}

// EnvironIn returns the environment of the recipes of the project at dir, and of a copse that is
// started there. Its PATH is the inherited one if the directories that Environ lacks are this
// project's own.
func (e Env) EnvironIn(dir string) []string {
	if e.inherited != nil && ownpath.Without(e.inherited, dir).Get("PATH") == xec.Env(e.Environ).Get("PATH") {
		return e.inherited
	}
	return e.Environ
}
