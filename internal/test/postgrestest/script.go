package postgrestest

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Script is the command "postgres" of scripts: it starts a server and sets DB to the address
// of an empty database on it. "postgres exec STATEMENTS" runs statements there, and
// "postgres settings FILE" writes settings of a user that name the database. "postgres login
// ROLE" makes COPSE_ITEMS the address for another role.
func Script(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("postgres cannot fail")
	}
	switch {
	case len(args) == 0:
		s, err := shared.get()
		ts.Check(err)
		name, err := s.Database(false)
		ts.Check(err)
		ts.Setenv("DB", s.Address(name))
		ts.Setenv("DBNAME", name)
		ts.Setenv("DBDIR", filepath.ToSlash(s.Dir))
	case args[0] == "exec" && len(args) == 2:
		s, err := shared.get()
		ts.Check(err)
		ts.Check(s.exec(ts.Getenv("DBNAME"), args[1]))
	case args[0] == "settings" && len(args) == 2:
		file := ts.MkAbs(filepath.Join(ts.Getenv("WORK"), args[1]))
		ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
		ts.Check(os.WriteFile(file, []byte("items:\n  database:\n    "+ts.Getenv("WORK")+": "+ts.Getenv("DB")+"\n"), 0o600))
	case args[0] == "login" && len(args) == 2:
		ts.Setenv("COPSE_ITEMS", strings.Replace(ts.Getenv("DB"), "postgres://postgres@", "postgres://"+args[1]+"@", 1))
	default:
		ts.Fatalf("usage: postgres [exec STATEMENTS | settings FILE | login ROLE]")
	}
}
