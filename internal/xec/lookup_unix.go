//go:build unix

package xec

import "os"

func sameKey(a, b string) bool { return a == b }

func (e Env) executable(path string) (string, bool) {
	fi, err := os.Stat(path)
	return path, err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0
}
