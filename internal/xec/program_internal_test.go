package xec

import (
	"slices"
	"strings"
	"testing"
)

func TestBatchFiles(t *testing.T) {
	t.Parallel()
	const cmd = `C:\Program Files (x86)\nodejs\just.cmd`
	for path, want := range map[string]bool{
		cmd: true, `C:\x\just.CMD`: true, `C:\x\just.bat`: true, `C:\x\just.Bat. .`: true,
		`C:\x\just.exe`: false, `C:\x\just.com`: false, `C:\x\just`: false, `C:\x.cmd/just`: false, `C:\x\just.cmd.exe`: false,
	} {
		if got := isBatch(path); got != want {
			t.Errorf("isBatch(%q) = %v, want %v", path, got, want)
		}
	}
	env := Env{`PATH=/x`}
	for _, c := range "&|<>()^%!\"\r\n" {
		arg := "secret" + string(c) + "calc"
		command := Command{Name: "just", Args: []string{"b", arg}, Env: env}
		_, err := command.at(cmd, "windows")
		if err == nil || !strings.Contains(err.Error(), ".exe") || strings.Contains(err.Error(), "secret") {
			t.Errorf("a batch file gets %q: %v", arg, err)
		}
		for path, system := range map[string]string{`C:\x\just.exe`: "windows", "/x/just.cmd": "linux"} {
			if p, err := command.at(path, system); err != nil || !slices.Equal(p.argv, []string{"just", "b", arg}) || !slices.Equal(p.env, env) {
				t.Errorf("%s: %q becomes %q in %q, %v", path, arg, p.argv, p.env, err)
			}
		}
	}
	for _, path := range []string{`C:\R&D\just.cmd`, `C:\%USERNAME%\just.cmd`} {
		if _, err := (Command{Name: "just"}).at(path, "windows"); err == nil {
			t.Errorf("a batch file at %s starts", path)
		}
	}

	// The command interpreter finds neither the batch file nor its programs in the working directory.
	args := []string{"", "a b", `C:\a\b.md`, "--x=y,z;*?~", "ä'`$#@"}
	p, err := (Command{Name: "just", Args: args, Env: env}).at(cmd, "windows")
	if err != nil || p.path != cmd || !slices.Equal(p.argv, append([]string{cmd}, args...)) || p.env.Get("NoDefaultCurrentDirectoryInExePath") == "" {
		t.Errorf("plain arguments: %q in %q, %v", p.argv, p.env, err)
	}
}
