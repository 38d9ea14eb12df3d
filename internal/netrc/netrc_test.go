package netrc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/netrc"
)

// both returns what a lookup of machines a and b gives, as "login:password", "-" for none and "!"
// for an incomplete entry.
func both(f *netrc.File) string {
	one := func(machine string) string {
		e, ok := f.Lookup(machine)
		switch {
		case ok:
			return e.Login + ":" + e.Password
		case f.Has(machine):
			return "!"
		}
		return "-"
	}
	return one("a") + " " + one("b")
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"empty", "", "- -"},
		{"one line", "machine a login u password p", "u:p -"},
		{"many lines", "machine a\n\tlogin u\n\tpassword p\n", "u:p -"},
		{"two machines", "machine a login u password p\nmachine b login v password q\n", "u:p v:q"},
		{"all on one line", "machine a login u password p machine b login v password q", "u:p v:q"},
		{"password first", "machine a password p login u", "u:p -"},
		{"keyword and value on separate lines", "machine\na\nlogin\n\nu\npassword\n p", "u:p -"},
		{"keywords in capitals", "MACHINE a Login u PASSWORD p", "u:p -"},
		{"machine in capitals", "machine A login u password p", "u:p -"},
		{"CRLF", "machine a\r\nlogin u\r\npassword p\r\n", "u:p -"},
		{"BOM", "\ufeffmachine a login u password p", "u:p -"},
		{"no UTF-8", "machine a login \xfc password \xff\x00x", "\xfc:\xff\x00x -"},

		{"comment line", "# mine\nmachine a\n  # c\n login u\n password p", "u:p -"},
		{"commented-out entry", "#machine a login u password p\n# machine b login v password q", "- -"},
		{"comment after a value", "machine a # x\nlogin u # y\npassword p # login other", "u:p -"},
		{"comment without a blank", "machine a login u password p #login other", "u:p -"},
		{"comment between keyword and value", "machine # mine\na login # y\n#z\nu password p", "u:p -"},
		{"comment at the end of the file", "machine a login u password p\n#", "u:p -"},
		{"password with #", "machine a login u password p#q", "u:p#q -"},
		{"password that begins with #", "machine a login u password #p", "u:#p -"},
		{"login that begins with #", "machine a login #u password p", "#u:p -"},
		{"lone # is no password", "machine a login u password #", "! -"},

		{"quoted", `machine a login "u v" password "p q"`, "u v:p q -"},
		{"escapes", `machine a login "u\"" password "\\\n\r\t\x"`, "u\":\\\n\r\tx -"},
		{"quoted machine", `machine "a" login u password p`, "u:p -"},
		{"quoted keyword is none", `"machine" b login v password q machine a login u password p`, "u:p -"},
		{"quoted keyword as value", `machine a login "machine" password "login"`, "machine:login -"},
		{"quote never closed", "machine a login u password \"p q\nmachine b login v password q", "u:\"p v:q"},
		{"quote closed inside a word", `machine a login u password "p"q`, `u:"p"q -`},
		{"quote ends in a backslash", `machine a login u password "p\`, `u:"p\ -`},
		{"quote broken by a line", "machine a login u password \"p\\\nq\"", "u:\"p\\ -"},
		{"quote inside a word", `machine a login u password p"q"`, `u:p"q" -`},
		{"quoted empty password", `machine a login u password ""`, "! -"},
		{"quoted empty machine", `machine "" login u password p`, "- -"},

		{"only a login", "machine a login u", "! -"},
		{"only a password", "machine a password p", "! -"},
		{"incomplete does not leak", "machine a login u\nmachine b\npassword q", "! !"},
		{"first complete one wins", "machine a login u\nmachine a login v password q\nmachine a login w password r", "v:q -"},
		{"first of a repeated field wins", "machine a login u password p login v password q", "u:p -"},
		{"value missing at a line end", "machine a login\npassword p\nmachine b login v password q", "! v:q"},
		{"value missing before machine", "machine a login machine b login v password q", "! v:q"},
		{"password missing before machine", "machine a login u password machine b login v password q", "! v:q"},
		{"name missing", "machine\nlogin u password p\nmachine b login v password q", "- v:q"},
		{"name missing before machine", "machine machine a login u password p", "u:p -"},
		{"keyword as value on its line", "machine a login login password password", "login:password -"},
		{"nothing after a keyword", "machine a login", "! -"},
		{"nothing after machine", "machine", "- -"},

		{"default", "default login x password y", "- -"},
		{"default last", "machine a login u password p\ndefault login x password y", "u:p -"},
		{"default after an incomplete entry", "machine a login u\ndefault login x password y", "! -"},
		{"machine after default", "default login x password y\nmachine a login u password p", "u:p -"},

		{"unknown words", "hello machine a protocol https port 443 login u extra password p", "u:p -"},
		{"rubbish", "\x00\x01{}[]\n;;; ~~ machine", "- -"},
		{"login before any machine", "login u password p machine a", "! -"},
		{"account", "machine a account x login u password p", "u:p -"},

		{"macro", "macdef init\nmachine a login x password y\n\nmachine a login u password p", "u:p -"},
		{"macro with CRLF", "macdef init\r\nmachine a login x password y\r\n\r\nmachine a login u password p", "u:p -"},
		{"macro to the end of the file", "machine b login v password q\nmacdef init\nmachine a login u password p", "- v:q"},
		{"macro without a body", "macdef init\n\nmachine a login u password p", "u:p -"},
		{"macro without a name", "macdef", "- -"},
		{"macro ends the entry", "machine a login u\nmacdef init\nput x\n\npassword p", "! -"},
		{"line of blanks inside a macro", "macdef init\nx\n \nmachine a login x password y\n\n", "- -"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := netrc.Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := both(f); got != tt.want {
				t.Errorf("%q gave %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	f, err := netrc.Parse([]byte("machine GitHub.com login u password p account c\n" +
		"machine localhost:8080 login v password q\nmachine e.com/jira login w password r\n"))
	if err != nil {
		t.Fatal(err)
	}
	e, ok := f.Lookup("github.com")
	if want := (netrc.Entry{Machine: "GitHub.com", Login: "u", Password: "p", Account: "c"}); !ok || e != want {
		t.Errorf("github.com: got %q %q %q %q, %v", e.Machine, e.Login, e.Password, e.Account, ok)
	}
	for machine, want := range map[string]bool{
		"localhost:8080": true, "e.com/jira": true,
		"localhost": false, "e.com": false, "api.github.com": false, "github.co": false, "": false,
	} {
		if _, ok := f.Lookup(machine); ok != want {
			t.Errorf("Lookup(%q) found %v, want %v", machine, ok, want)
		}
	}
}

func TestHasDefault(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"default login x password y": true,
		"machine default login u":    false,
		"machine a login default":    false,
		"# default\n":                false,
		"":                           false,
	} {
		f, err := netrc.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.HasDefault(); got != want {
			t.Errorf("%q: HasDefault = %v, want %v", in, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	full := []byte("machine a login u password p\n#")
	full = append(full, strings.Repeat("x", netrc.MaxSize-len(full))...)
	if f, err := netrc.Parse(full); err != nil || both(f) != "u:p -" {
		t.Errorf("a file of MaxSize bytes is not read: %v", err)
	}
	if _, err := netrc.Parse(append(full, 'x')); !errors.Is(err, netrc.ErrTooLarge) {
		t.Errorf("one byte more: got %v, want ErrTooLarge", err)
	}
	for _, in := range []string{"\xff\xfem\x00", "\xfe\xff\x00m"} {
		if _, err := netrc.Parse([]byte(in)); !errors.Is(err, netrc.ErrUTF16) {
			t.Errorf("%q: got %v, want ErrUTF16", in, err)
		}
	}
}

func TestPrintingHidesSecrets(t *testing.T) {
	t.Parallel()
	f, err := netrc.Parse([]byte("machine a login sesame password sesame account sesame"))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := f.Lookup("a")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, v := range []any{e, &e, f, []netrc.Entry{e}} {
			if got := fmt.Sprintf(verb, v); strings.Contains(got, "sesame") || strings.Contains(got, "736573616d65") {
				t.Errorf("%s of %T shows the secret: %s", verb, v, got)
			}
		}
	}
}

// FuzzParse holds any file against the one promise that matters: putting it
// before an entry never gives its machine to another entry's login, and what is
// found was written in the file.
func FuzzParse(f *testing.F) {
	f.Add("machine a login u password p # c\ndefault login x password y")
	f.Add("macdef init\n\"a\\\" b\"\r\n\nmachine # x\n a login #u password \"p q\"")
	f.Fuzz(func(t *testing.T, s string) {
		file, err := netrc.Parse([]byte(s))
		if err != nil {
			t.Skip()
		}
		for _, machine := range []string{"a", "github.com", "login", ""} {
			e, ok := file.Lookup(machine)
			if ok && (e.Login == "" || e.Password == "" || !strings.EqualFold(e.Machine, machine)) {
				t.Fatalf("%q: Lookup(%q) gave a wrong entry", s, machine)
			}
			if ok && !file.Has(machine) {
				t.Fatalf("%q: found %q, which it has not", s, machine)
			}
		}
		// After an empty line, which ends a macro, an entry is read as it is,
		// and gives nothing to what is before it.
		mark := "\n\nmachine fuzz.example login fuzzlogin password fuzzpassword\n"
		longer, err := netrc.Parse([]byte(s + mark))
		if err != nil {
			t.Skip()
		}
		if e, ok := longer.Lookup("fuzz.example"); !strings.Contains(s, "fuzz") && (!ok || e.Login != "fuzzlogin" || e.Password != "fuzzpassword") {
			t.Fatalf("%q hides the entry after it", s)
		}
		for _, machine := range []string{"a", "github.com", "login"} {
			before, ok := file.Lookup(machine)
			after, still := longer.Lookup(machine)
			if ok != still || before != after {
				t.Fatalf("%q: an entry after it changed machine %q", s, machine)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, bm := range []struct{ name, s string }{
		{"20 machines", strings.Repeat("machine example.com\n  login someone\n  password abcdefghij\n", 20)},
		{"1 MiB of quotes", strings.Repeat(`"a `, netrc.MaxSize/3)},
		{"1 MiB of comments", strings.Repeat("#\n", netrc.MaxSize/2)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.s)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := netrc.Parse([]byte(bm.s)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
