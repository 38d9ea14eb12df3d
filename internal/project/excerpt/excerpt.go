// Package excerpt reads some lines of a text file, and describes the rest.
package excerpt

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/secret"
)

const (
	// MaxText is the maximum number of displayed bytes of a file.
	MaxText = 256 << 10
	// maxCounted is the maximum size of a file whose lines are counted to the end.
	maxCounted = 64 << 20
	// maxSkipped is the maximum number of bytes before the first displayed one. Reading them takes
	// less than a second if the system has them in memory.
	maxSkipped = 256 << 20
)

// Lines selects lines of a file.
type Lines struct {
	// From is the first one, from 1; 0 is 1.
	From int
	// Column is the byte of the first line to start from, from 1; 0 is 1.
	Column int
	// Max is the maximum number of lines; 0 is as many as fit.
	Max int
	// Bytes is the maximum number of bytes; 0 is MaxText.
	Bytes int
}

// Text is a part of a file.
type Text struct {
	// Content is complete lines of the file, except for a line that alone is too long, without the secrets of the
	// call.
	Content string
	// Notice describes the missing part, and how to get it. It is empty if the text is complete.
	Notice string
}

// Problem reports that a file has no such lines, or no text.
type Problem struct{ What, Remedy string }

func (p *Problem) Error() string { return strings.TrimSuffix(p.What+"; "+p.Remedy, "; ") }

// Read returns lines of a file of a size. The error is a [*Problem], or one of the file.
func Read(ctx context.Context, file io.Reader, size int64, lines Lines) (Text, error) {
	r := reader{from: max(lines.From, 1), skip: max(lines.Column, 1) - 1, max: lines.Max, bytes: min(cmp.Or(lines.Bytes, MaxText), MaxText), size: size, count: size <= maxCounted}
	err := r.read(ctx, file)
	if errors.Is(err, errFar) {
		return Text{}, &Problem{
			What:   fmt.Sprintf("has more than %d bytes before line %d, column %d", int64(maxSkipped), r.from, r.skip+1),
			Remedy: "read_file reads the beginning of a file: use a smaller offset and column, or a program such as tail",
		}
	}
	if err != nil {
		return Text{}, err
	}
	if problem := notText(r.head, r.text.Bytes(), r.size); problem != "" {
		return Text{}, &Problem{What: problem}
	}
	return r.result(secret.Of(ctx))
}

// reader goes through a file once.
type reader struct {
	from, max int
	skip      int // bytes of the first line
	bytes     int // at most
	size      int64
	count     bool // all lines are counted

	head   []byte // the beginning of the file, to detect its type
	text   bytes.Buffer
	before []byte // the end of what precedes text in its first line
	after  []byte // the beginning of what follows text in a line that is cut
	passed int64  // bytes read so far
	shown  int
	line   int   // lines started so far
	full   bool  // no more lines fit
	cut    int64 // the length of a line that alone was too long
	past   int64 // the length of the first line, if it ends before skip
}

const headSize = 512

// errFar reports that the first requested line or column is too far from the beginning of a file.
var errFar = errors.New("the position is too far from the beginning")

func (r *reader) read(ctx context.Context, file io.Reader) error {
	// Of a growing file, only the part up to its current end is read.
	in := bufio.NewReaderSize(io.LimitReader(file, r.size), 64<<10)
	r.head, _ = in.Peek(headSize) // errors appear again below
	r.head = bytes.Clone(r.head)
	if err := r.pass(ctx, in); err != nil {
		return err
	}
	begin, length := true, int64(0)
	for chunks := 0; ; chunks++ {
		if chunks&0xff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		chunk, err := in.ReadSlice('\n')
		if len(chunk) > 0 {
			if begin {
				r.line++
				length = 0
			}
			length += int64(len(chunk))
			begin = chunk[len(chunk)-1] == '\n'
			r.take(chunk, begin || err == io.EOF, length)
			if r.passed += int64(len(chunk)); r.shown == 0 && r.text.Len() == 0 && r.passed > maxSkipped {
				return errFar
			}
			if r.full && !r.count {
				r.follow(in)
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// follow keeps what follows a line that was cut.
func (r *reader) follow(in *bufio.Reader) {
	if r.cut > 0 && len(r.after) < secret.Around {
		next, _ := in.Peek(secret.Around) // what cannot be read is in no secret
		r.after = append(r.after, next...)
	}
}

// pass skips the lines before the first requested one.
func (r *reader) pass(ctx context.Context, in *bufio.Reader) error {
	begin := true // the last line has ended
	for left, blocks := r.from-1, 0; left > 0; blocks++ {
		if blocks&0xff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if r.passed > maxSkipped {
			return errFar
		}
		_, err := in.Peek(1)
		if err == io.EOF {
			if !begin {
				r.line++
			}
			return nil
		}
		if err != nil {
			return err
		}
		block, _ := in.Peek(in.Buffered()) // is in the buffer
		if ends := bytes.Count(block, []byte{'\n'}); ends < left {
			left -= ends
			r.line += ends
			begin = block[len(block)-1] == '\n'
		} else {
			rest := block
			for ; left > 0; left-- {
				rest = rest[bytes.IndexByte(rest, '\n')+1:]
				r.line++
			}
			block = block[:len(block)-len(rest)]
		}
		r.passed += int64(len(block))
		_, _ = in.Discard(len(block)) // is in the buffer
	}
	return nil
}

// take keeps a piece of the current line, if the result includes the line.
func (r *reader) take(chunk []byte, end bool, length int64) {
	switch {
	case r.line < r.from, r.full:
		return
	case r.max > 0 && r.shown == r.max:
		r.full = true
		return
	case r.cut > 0:
		r.after = append(r.after, chunk[:min(len(chunk), max(0, secret.Around-len(r.after)))]...)
		if r.cut = length; end {
			r.shown++
			r.full = true
		}
		return
	}
	if before := length - int64(len(chunk)); r.line == r.from && before < int64(r.skip) {
		from := int(min(int64(r.skip)-before, int64(len(chunk))))
		for from < len(chunk) && !utf8.RuneStart(chunk[from]) { // a position within a character
			from, r.skip = from+1, r.skip+1
		}
		r.before = append(r.before, chunk[max(0, from-secret.Around):from]...)
		if over := len(r.before) - secret.Around; over > 0 {
			r.before = append(r.before[:0], r.before[over:]...)
		}
		chunk = chunk[from:]
		if len(chunk) == 0 {
			if end {
				r.past, r.full = length, true
			}
			return
		}
	}
	room := r.bytes - r.text.Len()
	if len(chunk) <= room {
		r.text.Write(chunk)
		if end {
			r.shown++
		}
		return
	}
	// The line does not fit. The next call shows it, unless it is the first.
	if r.shown > 0 {
		before := length - int64(len(chunk)) // of this line, already written
		r.text.Truncate(r.text.Len() - int(before))
		r.full = true
		return
	}
	r.text.Write(chunk[:room])
	whole := len(wholeRunes(r.text.Bytes()))
	r.after = append(bytes.Clone(r.text.Bytes()[whole:]), chunk[room:]...)
	r.text.Truncate(whole)
	r.cut = length
	if !r.count {
		r.cut, end = r.size, true
	}
	if end {
		r.shown++
		r.full = true
	}
}

// wholeRunes returns text without an incomplete character at its end.
func wholeRunes(text []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}

// result describes what was read, and shows it without known secrets.
func (r *reader) result(known *secret.Set) (Text, error) {
	if r.past > 0 {
		return Text{}, &Problem{
			What: fmt.Sprintf("has %d bytes in line %d", r.past, r.from), Remedy: fmt.Sprintf("column is %d: use a smaller one", r.skip+1),
		}
	}
	if r.shown == 0 && r.from > 1 {
		return Text{}, &Problem{What: "has " + cleantext.Count(r.line, "line"), Remedy: fmt.Sprintf("offset is %d: use a smaller one", r.from)}
	}
	around := string(slices.Concat(r.before, r.text.Bytes(), r.after))
	t := Text{Content: known.Between(around, len(r.before), len(r.before)+r.text.Len())}
	if r.line == 0 {
		t.Notice = "The file is empty."
		return t, nil
	}
	last := r.from + r.shown - 1
	var notes []string
	if r.cut > 0 {
		end := r.skip + r.text.Len()
		notes = append(notes, fmt.Sprintf("… line %d: bytes %d to %d of %d shown; continue it with offset=%d, column=%d", last, r.skip+1, end, r.cut, last, end+1))
	}
	switch {
	case !r.count && r.full:
		notes = append(notes, fmt.Sprintf("… lines %d to %d shown of a file of %d bytes; continue with offset=%d", r.from, last, r.size, last+1))
	case last < r.line:
		notes = append(notes, fmt.Sprintf("… %d of %d lines shown; continue with offset=%d", r.shown, r.line, last+1))
	case r.from > 1:
		notes = append(notes, fmt.Sprintf("… lines %d to %d of %d shown, the last ones", r.from, last, r.line))
	}
	t.Notice = strings.Join(notes, "\n")
	return t, nil
}

// notText describes a file that cannot be shown, "" if it can.
func notText(head, shown []byte, size int64) string {
	var kind string
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		kind = "is UTF-16 text; only UTF-8 is supported"
	case bytes.IndexByte(head, 0) >= 0, bytes.IndexByte(shown, 0) >= 0:
		kind = "is a binary file"
		if media, _, _ := strings.Cut(http.DetectContentType(head), ";"); media != "application/octet-stream" && !strings.HasPrefix(media, "text/") {
			kind += " (" + media + ")"
		}
	case !utf8.Valid(shown):
		kind = "is not UTF-8 text"
		if media, _, _ := strings.Cut(http.DetectContentType(head), ";"); media != "application/octet-stream" && !strings.HasPrefix(media, "text/") {
			kind = "is a binary file (" + media + ")"
		}
	default:
		return ""
	}
	return fmt.Sprintf("%s of %d bytes", kind, size)
}
