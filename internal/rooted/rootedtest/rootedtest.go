// Package rootedtest provides the paths that every reader of files below one directory must refuse.
package rootedtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Secret is the content of each file outside.
const Secret = "from outside"

// Project creates a directory with files, directories, and links, next to a secret, and returns its
// path.
func Project(t testing.TB) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(top, "project")
	for path, content := range map[string]string{
		"project/a.txt": "a", "project/dir/b.txt": "b", "project/dir/deep/c.txt": "c",
		"secret.txt": Secret, "outside/b.txt": Secret, "project-more/x.txt": Secret,
	} {
		path = filepath.Join(top, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"inner": "dir", "to-a": "a.txt", "dir/up": "../a.txt", "chain1": "chain2", "chain2": "chain3", "chain3": "a.txt",
		"out-file": "../secret.txt", "out-dir": "../outside", "out-abs": filepath.Join(top, "secret.txt"), "out-root": "/",
		"out-missing": "../missing.txt", "out1": "out2", "out2": "out-file", "dir/out": "../../secret.txt", "sneaky": "dir/../../secret.txt",
		"loop1": "loop2", "loop2": "loop1", "proc": "/proc/self/root", "self": ".", "dangling": "nowhere",
		"abs-file": filepath.Join(root, "a.txt"), "abs-dir": filepath.Join(root, "dir"), "abs-root": root, "to-abs": "abs-dir/b.txt",
		"abs-up": root + "/inner/../a.txt", "abs-out": root + "/../secret.txt", "abs-more": root + "-more/x.txt", "abs-chain": filepath.Join(root, "out-file"),
		"abs-missing": filepath.Join(root, "nowhere"), "many0": "a.txt",
	} {
		if err := os.Symlink(target, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	for i := range 50 {
		if err := os.Symlink(fmt.Sprintf("many%d", i), filepath.Join(root, fmt.Sprintf("many%d", i+1))); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// Escapes returns paths that must not work: more than 200 that point outside the directory that Place
// created.
func Escapes(root string) []string {
	list := []string{
		"out-file", "out-dir/b.txt", "out-abs", "out-root/etc/passwd", "out-missing", "out1", "dir/out", "sneaky", "proc/etc/passwd",
		"self/out-file", "inner/out", "self/../out-file", "abs-file/../../secret.txt",
		"abs-out", "abs-more", "abs-chain", "abs-root/out-file", "abs-dir/out", "abs-root/abs-root/proc/etc/passwd",
		"/proc/self/root/etc/passwd", "/proc/self/cwd", "/etc/passwd", "/", "//etc/passwd", "/dev/zero", "/.", "/..",
		filepath.Dir(root), filepath.Dir(root) + "/secret.txt", root + "/../secret.txt", root + "-more/x.txt", root + "/../project-more/x.txt",
		`C:\Windows\win.ini`, `c:/Windows/win.ini`, `C:secret.txt`, `\\server\share\file`, `\\?\C:\x`, `\\.\pipe\x`, "Z:",
		`..\secret.txt`, `dir\..\..\secret.txt`, `..\..\..\etc\passwd`, `.\..\secret.txt`, `dir/..\../secret.txt`, `\secret.txt`, `..\`,
	}
	target := "secret.txt"
	for depth := 1; depth <= 12; depth++ {
		up := strings.Repeat("../", depth)
		list = append(list, up+target, up+"etc/passwd", "dir/"+strings.Repeat("../", depth+1)+target, "a.txt/"+strings.Repeat("../", depth+1)+target,
			"missing/"+strings.Repeat("../", depth+1)+target, strings.Repeat("./../", depth)+target, strings.Repeat(".//..//", depth)+target,
			root+"/"+up+target, up+"project/a.txt", "dir/deep/"+strings.Repeat("../", depth+2)+target, up, strings.TrimSuffix(up, "/"),
			up+"proc/self/root/etc/passwd", "inner/"+strings.Repeat("../", depth+1)+target)
	}
	return list
}
