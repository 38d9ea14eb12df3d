package xec_test

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/xec"
)

func TestInteractive(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	var out, errs bytes.Buffer
	terminal := xec.Terminal{Stdin: strings.NewReader("typed\n"), Stdout: &out, Stderr: &errs}
	c := xec.Command{Name: "sh", Args: []string{"-c", `read line; echo "$line in $PLACE"; echo oops >&2; exit 3`}, Env: append(os.Environ(), "PLACE=here")}
	err := xec.Interactive(t.Context(), c, terminal)
	exit, ok := errors.AsType[*xec.ExitError](err)
	if !ok || exit.Code != 3 {
		t.Errorf("got %v", err)
	}
	if out.String() != "typed in here\n" || errs.String() != "oops\n" {
		t.Errorf("wrote %q and %q", out.String(), errs.String())
	}
	c.Args = []string{"-c", "true"}
	if err := xec.Interactive(t.Context(), c, terminal); err != nil {
		t.Error(err)
	}
	c.Name = "no-such-editor"
	if err := xec.Interactive(t.Context(), c, terminal); !errors.Is(err, xec.ErrNotInstalled) {
		t.Errorf("a missing program gives %v", err)
	}
}
