package postgrestest

import (
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Session is a connection to a fake server after its login.
type Session struct {
	*pgproto3.Backend
	net.Conn

	// Password is what the client sent.
	Password string
}

// Fake starts a server that speaks the protocol and answers as a test defines: it requests the
// password in plain text, and calls answer for each connection that gave one, before it reports
// that it is ready. It returns the address of a database there.
func Fake(tb testing.TB, password string, answer func(*Session)) string {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				s := &Session{Backend: pgproto3.NewBackend(conn, conn), Conn: conn}
				if s.logIn() == nil {
					answer(s)
				}
			}()
		}
	}()
	return "postgres://ada:" + password + "@" + listener.Addr().String() + "/team?require_auth=password&sslmode=disable"
}

func (s *Session) logIn() error {
	if _, err := s.ReceiveStartupMessage(); err != nil {
		return err
	}
	s.Send(&pgproto3.AuthenticationCleartextPassword{})
	if err := s.Flush(); err != nil {
		return err
	}
	if err := s.SetAuthType(pgproto3.AuthTypeCleartextPassword); err != nil {
		return err
	}
	given, err := s.Receive()
	if err != nil {
		return err
	}
	if p, ok := given.(*pgproto3.PasswordMessage); ok {
		s.Password = p.Password
	}
	s.Send(&pgproto3.AuthenticationOk{})
	return s.Flush()
}

// Ready reports that the server is ready for a query, and waits for the end of one.
func (s *Session) Ready() error {
	s.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if err := s.Flush(); err != nil {
		return err
	}
	for {
		m, err := s.Receive()
		if err != nil {
			return err
		}
		switch m.(type) {
		case *pgproto3.Sync, *pgproto3.Query:
			return nil
		}
	}
}
