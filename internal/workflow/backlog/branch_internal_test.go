package backlog

import (
	"testing"

	"github.com/copse-dev/copse/internal/item"
)

func TestBranchName(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Fix: session cookie (#42)": "tic/3-fix-session-cookie-42", "--": "tic/3",
		"Trim the cart before the customer pays for anything":   "tic/3-trim-the-cart-before-the-customer-pays",
		"Log in with a passkey from the keychains":              "tic/3-log-in-with-a-passkey-from-the-keychains",
		"Donaudampfschifffahrtselektrizitätenhauptbetriebswerk": "tic/3-donaudampfschifffahrtselektrizitätenhaup", "ログイン": "tic/3-ログイン", "": "tic/3",
	} {
		name := branchName(3, title)
		if name != want {
			t.Errorf("%q: got %q, want %q", title, name, want)
		}
		if _, err := (item.Config{}).Check(item.Patch{Branch: &name}); err != nil {
			t.Errorf("%q: %v", title, err)
		}
	}
}
