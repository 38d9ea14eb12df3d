// Package sqlerror classifies the errors of a database, and explains them to a person.
//
// [Passing] reports whether a request may succeed later; [Connecting] and [Lost] report the state of
// the connection. [Explain] returns an error that states what was wrong and what to do. The server's
// text is foreign: this package cleans it, cuts it, puts it on one line, and quotes it.
package sqlerror

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/postgres/address"
	"github.com/copse-dev/copse/internal/item/postgres/bounded"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Explain describes an error of the database for a person, with the next step. An error of the
// domain, and the end of a context, stay as they are.
func Explain(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded) && !Connecting(err):
		return err
	case isOurs(err):
		return err
	}
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return &storage.StoreError{Problem: problem(answer), Next: remedy(answer.Code), Err: err}
	}
	if Connecting(err) && strings.Contains(err.Error(), strconv.Quote(address.NoPassword)) {
		return &storage.StoreError{
			Problem: "the database of work items requests the password in clear text, and does not prove its identity; copse did not send the password",
			Next: "Let the server use scram-sha-256, or set sslmode=verify-full, or sslmode=verify-ca with an sslrootcert of your own. " +
				"If you trust the server and the network, add require_auth=password to the address.", Err: err,
		}
	}
	if next := untrusted(err); next != "" && Connecting(err) {
		return &storage.StoreError{Problem: "copse cannot verify the database of work items: " + said(once(err.Error())), Next: next, Err: err}
	}
	if Connecting(err) && !bounded.Exceeded(err) {
		return &storage.StoreError{
			Problem: "the database of work items cannot be reached: " + said(once(err.Error())),
			Next:    "Check that it runs, and that COPSE_ITEMS or items.database in your settings has its address.", Err: err,
		}
	}
	if Lost(err) && !bounded.Exceeded(err) {
		return &storage.StoreError{Problem: "the connection to the database of work items was lost: " + said(err.Error()), Next: "Try again.", Err: err}
	}
	problem := "the database of work items sent an unexpected response: " + said(err.Error())
	if bounded.Exceeded(err) {
		problem = "the database of work items sent more than this program reads: " + said(err.Error())
	}
	return &storage.StoreError{
		Problem: problem,
		Next:    "Check that COPSE_ITEMS or items.database in your settings has the address of a PostgreSQL server with the tables of copse.", Err: err,
	}
}

// untrusted returns what to do about a connection that TLS refuses, "" if TLS is not the cause.
func untrusted(err error) string {
	_, host := errors.AsType[x509.HostnameError](err)
	_, signer := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case host:
		return "Use a host that the certificate of the server names."
	case signer:
		return "Set sslrootcert, in the address or as PGSSLROOTCERT, to the certificate of the authority that issued the server's certificate."
	case invalid:
		return "Replace the certificate of the server."
	case strings.Contains(err.Error(), refusesTLS):
		return "Let the server encrypt its connections (ssl = on). If you trust the server and the network, add sslmode=disable to the address."
	}
	return ""
}

// refusesTLS is what the driver reports of a server without TLS, which has no type.
const refusesTLS = "server refused TLS connection"

// ErrSilent reports that the database took too long to answer.
func ErrSilent(limit time.Duration) error {
	return &storage.StoreError{
		Problem: fmt.Sprintf("the database of work items did not respond within %s", limit),
		Next:    "Check the item before you repeat a change. If it happens again, check the database and the network.",
		Err:     context.DeadlineExceeded,
	}
}

// ErrUnknown reports that a call ended while its change was being saved, and that nobody knows the
// outcome. next says how to find out.
func ErrUnknown(next string, err error) error {
	return &storage.StoreError{
		Problem: "the call ended while the database was saving the change, and it is unknown whether the change was made",
		Next:    next, Err: err,
	}
}

// isOurs reports whether an error already has its words.
func isOurs(err error) bool {
	_, store := errors.AsType[*storage.StoreError](err)
	_, invalid := errors.AsType[*item.InvalidError](err)
	_, changed := errors.AsType[*storage.ChangedError](err)
	_, config := errors.AsType[*storage.ConfigError](err)
	_, held := errors.AsType[*storage.HeldError](err)
	_, nothing := errors.AsType[*item.NothingToClaimError](err)
	_, undo := errors.AsType[*changes.UndoError](err)
	return held || nothing || undo || store || invalid || changed || config || item.IsNotFound(err) || errors.Is(err, storage.ErrNoProject)
}

// Clean returns what a server wrote on one line, without anything that a terminal or a
// model would obey, and short.
func Clean(text string) string {
	const maxText = 300
	return cleantext.Cut(cleantext.Line(text), maxText)
}

// said returns what a server wrote in quotation marks.
func said(text string) string { return strconv.Quote(Clean(text)) }

// once returns the lines of a text without those that repeat the one before.
func once(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(slices.Compact(lines), " ")
}

func problem(answer *pgconn.PgError) string {
	var what string
	switch answer.Code {
	case readOnly:
		what = "the database only allows reading here"
	case noPrivilege:
		what = "your role in the database may not do this"
	case "28000", "28P01":
		what = "the database refused the login"
	case "3D000":
		what = "there is no such database"
	case "53100":
		what = "the disk of the database is full"
	case "53200":
		what = "the database is out of memory"
	case "53300":
		what = "the database accepts no more connections"
	case "55P03":
		what = "others kept changing the project"
	case "57P01", "57P02", "57P03", "25P03", "08006", "08003", "08001":
		what = "the database is stopping or starting"
	case serializationFailure, deadlock:
		what = "others kept changing the same items"
	default:
		what = "the database refused the request"
	}
	return fmt.Sprintf("%s (%s, %s)", what, said(answer.Message), foreign.Mention(Clean(answer.Code)))
}

// The codes for transactions that others were in the way of.
const (
	serializationFailure = "40001"
	deadlock             = "40P01"
)

// The codes for what a role or a replica may not do.
const (
	readOnly    = "25006"
	noPrivilege = "42501"

	// protocolViolation is also the answer of a pooler that shares connections between statements.
	protocolViolation = "08P01"
)

func remedy(code string) string {
	switch code {
	case readOnly:
		return "Nothing was changed. Use the address of the primary server to change items."
	case protocolViolation:
		return "Nothing was changed. A pooler must be in session or transaction mode; or use the address of the server itself."
	case noPrivilege:
		return "Nothing was changed. Ask the owner of the database for the role that you need."
	case "28000", "28P01":
		return "Check the user in the address, and the password in ~/.pgpass."
	case "3D000":
		return "Check the name of the database in the address, or ask its administrator to create it."
	case "53100", "53200", "53300":
		return "Nothing was changed. Ask the administrator of the database to free some space."
	}
	return "Nothing was changed. Try again."
}

// Connecting reports whether there was no connection to begin with.
func Connecting(err error) bool {
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok
}

// Passing reports whether the same may succeed later: the connection was lost, the server
// restarts or fails over, or another transaction was in the way.
func Passing(err error) bool {
	if bounded.Exceeded(err) {
		return false
	}
	if Lost(err) {
		return true
	}
	if Conflict(err) {
		return true
	}
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch answer.Code {
	case "57P01", "57P02", "57P03", "57P05", // shut down, crashed, starting, idle session ended
		"25P03", // the transaction was idle for too long
		"53300": // too many connections
		return true
	}
	// Connection exceptions, except that of a pooler that has no transactions.
	return len(answer.Code) == 5 && answer.Code[:2] == "08" && answer.Code != protocolViolation
}

// ReadOnly reports whether the connection can only read.
func ReadOnly(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && answer.Code == readOnly
}

// Conflict reports whether another transaction was in the way.
func Conflict(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (answer.Code == serializationFailure || answer.Code == deadlock)
}

// Lost reports whether the connection ended before the answer was read.
func Lost(err error) bool {
	if _, ok := errors.AsType[*pgconn.PgError](err); ok {
		return false
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[net.Error](err)
	return connecting || network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}
