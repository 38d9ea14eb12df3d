package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
)

// explain words an error of the database for a person, with what to do. An error of the
// domain, and the end of a context, stay as they are.
func explain(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded) && !isConnecting(err):
		return err
	case isOurs(err):
		return err
	}
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return &item.StoreError{Problem: problem(answer), Next: remedy(answer.Code), Err: err}
	}
	if isConnecting(err) {
		return &item.StoreError{
			Problem: "the database of work items cannot be reached: " + foreign(once(err.Error())),
			Next:    "Check that it runs, and that COPSE_ITEMS or items.database in your settings has its address.", Err: err,
		}
	}
	if isLost(err) {
		return &item.StoreError{Problem: "the connection to the database of work items was lost: " + foreign(err.Error()), Next: "Try again.", Err: err}
	}
	return fmt.Errorf("use the database of work items: %s", foreign(err.Error()))
}

// isOurs reports whether an error has its words already.
func isOurs(err error) bool {
	_, store := errors.AsType[*item.StoreError](err)
	_, invalid := errors.AsType[*item.InvalidError](err)
	_, changed := errors.AsType[*item.ChangedError](err)
	_, config := errors.AsType[*item.ConfigError](err)
	return store || invalid || changed || config || item.IsNotFound(err) || errors.Is(err, item.ErrNoProject)
}

// foreign returns what a server wrote on one line, without anything that a terminal or a
// model would obey, and short.
func foreign(text string) string {
	const most = 300
	return cleantext.Cut(cleantext.Line(text), most)
}

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
		what = "the database has no connection left"
	case "55P03":
		what = "others kept changing the project"
	case "57P01", "57P02", "57P03", "25P03", "08006", "08003", "08001":
		what = "the database was stopped or is starting"
	case "40001", "40P01":
		what = "others kept changing the same items"
	default:
		what = "the database refused the request"
	}
	return fmt.Sprintf("%s (%s, %s)", what, foreign(answer.Message), foreign(answer.Code))
}

// The codes for what a role or a replica may not do.
const (
	readOnly    = "25006"
	noPrivilege = "42501"
)

func remedy(code string) string {
	switch code {
	case readOnly:
		return "Nothing was changed. Use the address of the primary server to change items."
	case noPrivilege:
		return "Nothing was changed. Ask the owner of the database for the role that you need."
	case "28000", "28P01":
		return "Check the user in the address, and the password in ~/.pgpass."
	case "3D000":
		return "Check the name of the database in the address, or ask for it to be made."
	case "53100", "53200", "53300":
		return "Nothing was changed. Ask the administrator of the database to free some space."
	}
	return "Nothing was changed. Try again."
}
