package xec

import (
	"os"
	"runtime/debug"
)

// lifeline is the pipe whose end a guard waits for. With a person's terminal, a panic, or a signal that
// ends this process as one, is written to it first: the guard restores the terminal before it reads on.
type lifeline struct {
	*os.File
	crash bool // the pipe gets a panic
}

// newLifeline returns both ends. The caller closes them.
func newLifeline(crash bool) (guard *os.File, own *lifeline, err error) {
	open := os.Pipe
	if crash {
		open = slowPipe
	}
	r, w, err := open()
	if err != nil {
		return nil, nil, err
	}
	if crash {
		_ = debug.SetCrashOutput(w, debug.CrashOptions{}) // without it, the guard restores the terminal after the end
	}
	return r, &lifeline{w, crash}, nil
}

// Close closes this process's end.
func (l *lifeline) Close() error {
	if l.crash {
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{}) // has a copy of the file
	}
	return l.File.Close()
}
