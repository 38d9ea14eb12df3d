package up

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/app"
)

func TestPrintUnit(t *testing.T) {
	t.Parallel()
	args := []string{"up", "--print-unit", "--allow-origin", "http://a&b", "--port", "41000"}
	for goos, want := range map[string][]string{
		"linux":  {`"up" "--allow-origin" "http://a&b" "--port" "41000" "--repo" "/src/50%% \"off\" $$x"`, "WantedBy=default.target"},
		"darwin": {"<string>--allow-origin</string>", "<string>http://a&amp;b</string>", "<key>WorkingDirectory</key><string>/src/50% &#34;off&#34; $x</string>"},
	} {
		var out bytes.Buffer
		env := app.Env{Args: args, Executable: "/usr/bin/copse", Stdout: &out, Dir: `/src/50% "off" $x`, GOOS: goos}
		if err := printUnit(env, options{}); err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s lacks %s:\n%s", goos, part, &out)
			}
		}
		if strings.Contains(out.String(), "--print-unit") {
			t.Errorf("%s prints it again", goos)
		}
		if goos != "darwin" {
			continue
		}
		for d := xml.NewDecoder(&out); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A unit names the repository once, however the command line names it.
func TestPrintUnitOfRepository(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--repo", "r"}, {"--repo=r"}, {"--repo", "q", "--repo=r"}} {
		var out bytes.Buffer
		env := app.Env{Args: append([]string{"up", "--print-unit"}, append(args, "--port=1")...), Executable: "/usr/bin/copse", Stdout: &out, Dir: "/src", GOOS: "linux"}
		if err := printUnit(env, options{repo: "r"}); err != nil {
			t.Fatal(err)
		}
		if want := `ExecStart="/usr/bin/copse" "up" "--port=1" "--repo" "/src/r"` + "\n"; !strings.Contains(out.String(), want) {
			t.Errorf("%q: %s", args, &out)
		}
	}
}
