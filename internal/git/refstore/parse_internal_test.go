package refstore

import (
	"bytes"
	"strings"
	"testing"
)

const hash = "0123456789abcdef0123456789abcdef01234567"

func TestParseLoose(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]value{
		hash:                                   {direct, hash},
		hash + "\n":                            {direct, hash},
		hash + "\r\n":                          {direct, hash},
		hash + " more\n":                       {direct, hash},
		strings.ToUpper(hash) + "\n":           {direct, hash},
		"ref: refs/heads/main\n":               {symbolic, "refs/heads/main"},
		"ref:refs/heads/main":                  {symbolic, "refs/heads/main"},
		"ref:\t refs/heads/main \n\n":          {symbolic, "refs/heads/main"},
		"ref: refs/heads/.invalid\n":           {kind: broken},
		"ref: ../../etc/passwd\n":              {kind: broken},
		"ref: /etc/passwd\n":                   {kind: broken},
		"ref:":                                 {kind: broken},
		"":                                     {kind: broken},
		"\n":                                   {kind: broken},
		hash[:39]:                              {kind: broken},
		hash + "0":                             {kind: broken},
		hash[:39] + "g":                        {kind: broken},
		strings.Repeat("0", len(hash)):         {kind: broken},
		strings.Repeat("\x00", len(hash)) + "": {kind: broken},
	} {
		if got := parseLoose([]byte(text), len(hash)); got != want {
			t.Errorf("parseLoose(%q) = %v, want %v", text, got, want)
		}
	}
}

func FuzzParseLoose(f *testing.F) {
	for _, text := range []string{hash, hash + "\n", hash + " x", "ref: refs/heads/main\n", "ref:", "", "ref: ../x", "\x00"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		switch v := parseLoose(text, len(hash)); v.kind {
		case direct:
			if len(v.text) != len(hash) || !isHash([]byte(v.text)) {
				t.Errorf("%q is not a hash", v.text)
			}
		case symbolic:
			if !ValidName(v.text) {
				t.Errorf("%q is not the name of a ref", v.text)
			}
		case broken:
			if v.text != "" {
				t.Errorf("a broken ref has the text %q", v.text)
			}
		default:
			t.Errorf("kind is %v", v.kind)
		}
	})
}

const header = "# pack-refs with: peeled fully-peeled sorted \n"

func TestScanPacked(t *testing.T) {
	t.Parallel()
	other := strings.Repeat("f", len(hash))
	for name, tt := range map[string]struct {
		text string
		want string
		fail bool
	}{
		"empty":           {text: ""},
		"header":          {text: header},
		"no header":       {text: hash + " refs/heads/a\n", want: "a"},
		"header only 1st": {text: hash + " refs/heads/a\n" + header, want: "a", fail: true},
		"tags": {
			text: header + hash + " refs/heads/a/b\n" + hash + " refs/remotes/o/x\n" + hash + " refs/tags/v1\n^" + other + "\n" + hash + " refs/tags/v2\n",
			want: "a/b",
		},
		"unsorted":         {text: hash + " refs/heads/b\n" + hash + " refs/heads/a\n", want: "b a"},
		"invalid name":     {text: hash + " refs/heads/a..b\n" + hash + " refs/heads/c\n", want: "c"},
		"no end":           {text: hash + " refs/heads/a", fail: true},
		"empty line":       {text: "\n" + hash + " refs/heads/a\n", fail: true},
		"conflict markers": {text: "<<<<<<< HEAD\n" + hash + " refs/heads/a\n", fail: true},
		"short hash":       {text: hash[1:] + " refs/heads/a\n", fail: true},
		"no hash":          {text: strings.Repeat("x", len(hash)) + " refs/heads/a\n", fail: true},
	} {
		var got []string
		err := scanPacked(strings.NewReader(tt.text), BranchPrefix, len(hash), func(ref packedRef) bool {
			if ref.hash != hash {
				t.Errorf("%s: hash of %s is %s", name, ref.name, ref.hash)
			}
			got = append(got, ref.name)
			return true
		})
		if (err != nil) != tt.fail || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q, error %v; want %q, error %v", name, got, err, tt.want, tt.fail)
		}
	}
}

func FuzzScanPacked(f *testing.F) {
	f.Add([]byte(header + hash + " refs/heads/a\n^" + hash + "\n"))
	f.Add([]byte("\n"))
	f.Add([]byte("#"))
	f.Add([]byte("^"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_ = scanPacked(bytes.NewReader(text), BranchPrefix, len(hash), func(ref packedRef) bool {
			if !ValidName(BranchPrefix+ref.name) || !isHash([]byte(ref.hash)) || len(ref.hash) != len(hash) {
				t.Errorf("%+v is not a ref", ref)
			}
			return true
		})
	})
}
