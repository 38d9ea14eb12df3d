package up

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/output"
)

// printUnit prints a file that starts this command at login: for launchd on macOS, else for
// systemd.
func printUnit(env app.Env, o options) error {
	program, err := env.Program()
	if err != nil {
		return err
	}
	dir := directory(env, o.repo)
	args := append([]string{program}, withoutFlag(env.Args, "--print-unit")...)
	args = append(withoutRepo(withoutFlag(args, "--detach")), "--repo", dir)
	text := systemd(args, dir)
	if env.GOOS == "darwin" {
		text = launchd(args, dir)
	}
	return output.New(env).Exact(text)
}

// withoutRepo returns arguments without the flag --repo and its value.
func withoutRepo(args []string) []string {
	var kept []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--repo":
			i++
		case !strings.HasPrefix(args[i], "--repo="):
			kept = append(kept, args[i])
		}
	}
	return kept
}

// systemd returns a unit of the user's manager.
func systemd(args []string, dir string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		// systemd interprets percent signs and dollars.
		a = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(a)
		quoted[i] = `"` + escapeHidden(a, `\U%08x`) + `"`
	}
	return fmt.Sprintf(`# Save as ~/.config/systemd/user/copse.service, then:
#   systemctl --user daemon-reload && systemctl --user enable --now copse
[Unit]
Description=copse: MCP servers for the worktrees of %s

[Service]
ExecStart=%s
Restart=on-failure

[Install]
WantedBy=default.target
`, strings.ReplaceAll(cleantext.Line(dir), "%", "%%"), strings.Join(quoted, " "))
}

// escapeHidden replaces hidden characters by escapes of a format.
func escapeHidden(s, format string) string {
	var b strings.Builder
	for _, r := range s {
		if cleantext.Hidden(r) {
			fmt.Fprintf(&b, format, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// launchd is a property list of a user agent.
func launchd(args []string, dir string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<!-- Save as ~/Library/LaunchAgents/dev.copse.up.plist, then: launchctl load -w it -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>dev.copse.up</string>
  <key>ProgramArguments</key>
  <array>
`)
	element := func(s string) string {
		var e strings.Builder
		_ = xml.EscapeText(&e, []byte(s)) // a builder takes everything
		return "<string>" + escapeHidden(e.String(), "&#x%X;") + "</string>"
	}
	for _, a := range args {
		b.WriteString("    " + element(a) + "\n")
	}
	fmt.Fprintf(&b, `  </array>
  <key>WorkingDirectory</key>%s
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
</dict>
</plist>
`, element(dir))
	return b.String()
}
