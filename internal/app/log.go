package app

import (
	"io"
	"log/slog"
)

// LevelTrace is for messages that are too long for debugging, such as whole protocol messages.
const LevelTrace = slog.Level(-8)

// NewLogger logs to w, which is a program's stderr. verbosity counts -v: 0
// shows warnings, then information, debugging, and at 3 everything.
func NewLogger(w io.Writer, verbosity int) *slog.Logger {
	level := slog.LevelWarn
	switch {
	case verbosity >= 3:
		level = LevelTrace
	case verbosity == 2:
		level = slog.LevelDebug
	case verbosity == 1:
		level = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if l, ok := a.Value.Any().(slog.Level); ok && a.Key == slog.LevelKey && l == LevelTrace {
				return slog.String(slog.LevelKey, "TRACE")
			}
			return a
		},
	}))
}
