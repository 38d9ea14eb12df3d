package bounded

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A server that reports more parameters than there are is refused. It can report each again and again.
func TestParameters(t *testing.T) {
	t.Parallel()
	encode := func(distinct, repeated int) []byte {
		out, _ := (&pgproto3.ReadyForQuery{TxStatus: 'I'}).Encode(nil)
		for i := range repeated {
			out, _ = (&pgproto3.ParameterStatus{Name: "name" + strconv.Itoa(i%distinct), Value: "x"}).Encode(out)
			out, _ = (&pgproto3.DataRow{Values: [][]byte{[]byte("row")}}).Encode(out)
		}
		return out
	}
	for _, n := range []int{100, 101} {
		for _, reader := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader} {
			sent := encode(n, 300)
			got, err := io.ReadAll(&messages{Reader: reader(bytes.NewReader(sent))})
			if Exceeded(err) != (n > 100) || n <= 100 && !bytes.Equal(got, sent) {
				t.Errorf("%d parameters: %v", n, err)
			}
		}
	}
}

// A login that requests millions of iterations is refused, however its messages arrive, and whatever
// comes before them.
func TestLogin(t *testing.T) {
	t.Parallel()
	encode := func(messages ...pgproto3.BackendMessage) []byte {
		var out []byte
		for _, m := range messages {
			var err error
			if out, err = m.Encode(out); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	sasl := func(data string) pgproto3.BackendMessage {
		return &pgproto3.AuthenticationSASLContinue{Data: []byte(data)}
	}
	notice := &pgproto3.NoticeResponse{Message: strings.Repeat("x", 100_000)}
	for name, tt := range map[string]struct {
		sent    []byte
		refused bool
	}{
		"default":               {encode(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{"SCRAM-SHA-256"}}, sasl("r=ab,s=cd,i=4096"), &pgproto3.ReadyForQuery{TxStatus: 'I'}), false},
		"many":                  {encode(sasl("r=ab,s=cd,i=10000000")), true},
		"a number out of range": {encode(sasl("r=ab,s=cd,i=99999999999999999999")), true},
		"after notices":         {encode(notice, &pgproto3.ParameterStatus{Name: "a", Value: "b"}, sasl("r=ab,s=cd,i=10000000")), true},
		"a huge message":        {encode(sasl("r=" + strings.Repeat("a", 1<<20))), true},
		"no length":             {[]byte("R\x00\x00\x00\x00"), false},
		"rows, after the login": {encode(&pgproto3.ReadyForQuery{TxStatus: 'I'}, sasl("r=ab,s=cd,i=10000000")), false},
	} {
		for kind, reader := range map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader,
		} {
			got, err := io.ReadAll(&messages{Reader: reader(bytes.NewReader(tt.sent))})
			if Exceeded(err) != tt.refused || !tt.refused && !bytes.Equal(got, tt.sent) {
				t.Errorf("%s, %s: %v", name, kind, err)
			}
		}
	}
}
