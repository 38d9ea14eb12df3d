package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// maxDetail limits the displayed part of a foreign text, in characters.
const maxDetail = 200

// TransportError converts an error instead of an answer, or during one, to an [*Error].
// ErrNotCached and ErrNotAllowed, which never reached the network, remain unchanged, and so does an
// [*Error].
func TransportError(service string, err error) error {
	host := ""
	if u := (*url.Error)(nil); errors.As(err, &u) {
		if parsed, perr := url.Parse(u.URL); perr == nil {
			host = parsed.Host
		}
		err = u.Err
	}
	if errors.Is(err, ErrNotCached) || errors.Is(err, ErrNotAllowed) {
		return err
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	return &Error{Service: service, Detail: clean(describe(err, host)), Err: err}
}

func describe(err error, host string) string {
	if host == "" {
		host = "the service"
	}
	var (
		dns  *net.DNSError
		cert *tls.CertificateVerificationError
		rec  tls.RecordHeaderError
		op   *net.OpError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return "the call was canceled"
	case errors.Is(err, ErrTimeout):
		return err.Error() + " from " + host
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer from " + host + " within the caller's time limit"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host: " + dns.Name
	case errors.As(err, &dns):
		return "the name " + dns.Name + " cannot be looked up: " + reason(err, dns.Err)
	case errors.Is(err, errConnRefused):
		return "connection refused by " + host
	case errors.As(err, &cert):
		return "TLS certificate of " + host + " not accepted: " + cert.Err.Error()
	case errors.As(err, &rec):
		return "TLS: " + host + " does not support it: " + rec.Msg
	case errors.Is(err, ErrTooLarge):
		return "the answer of " + host + " is too large"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errConnReset):
		return "the connection to " + host + " was interrupted"
	case errors.As(err, &op) && op.Err != nil:
		return "no connection to " + host + ": " + reason(err, op.Err.Error())
	}
	return err.Error()
}

// reason returns the system's words for a failure, without the addresses and calls that led to it;
// otherwise text.
func reason(err error, text string) string {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	return text
}

// userinfo is the part of a URL before its host.
var userinfo = lazyregexp.New(`//[^/\s"'<>]*@`)

// Clean returns what a service says, for [Error.Detail]: one short line without
// control characters, and without the credentials of a URL in it.
func Clean(s string) string { return clean(s) }

// clean makes foreign text one short line without control characters, and
// without the credentials of a URL in it.
func clean(s string) string {
	s = strings.Join(strings.Fields(cleantext.Line(s)), " ")
	return cleantext.Cut(userinfo.Get().ReplaceAllString(s, "//"), maxDetail)
}
