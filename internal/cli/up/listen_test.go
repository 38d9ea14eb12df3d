package up

import (
	"bytes"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/supervisor/control"
)

// Each address that others can reach is warned about, with what to do instead.
func TestListenWarns(t *testing.T) {
	t.Parallel()
	for host, warned := range map[string]bool{"192.168.0.2": true, "0.0.0.0": true, "::": true, "2001:db8::1": true, "127.0.0.1": false, "127.0.0.2": false, "::1": false} {
		var out bytes.Buffer
		warnOfClearText(app.Env{Stderr: &out}, control.Terms{Listen: []string{host}})
		text := out.String()
		if got := strings.Contains(text, "WARNING: --listen "+host+" sends the tokens") && strings.Contains(text, "ssh -N -L"); got != warned || !warned && text != "" {
			t.Errorf("%s: %q", host, text)
		}
	}
}
