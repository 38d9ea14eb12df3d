// Package sqlitefile reads a table of a SQLite database file, without SQLite.
//
// [Table] returns the rows of a small table with a rowid. It reads the file format that
// https://www.sqlite.org/fileformat2.html documents, in UTF-8, and nothing else of SQLite: no
// indexes, no views, no query language. Values that are not text are read as empty text.
//
// The bytes must be from one moment: a database during a write has a journal or a write-ahead log
// next to it, which the caller must detect. A damaged or hostile file is an error. The rows of a
// table share no bytes, so all of them together are never larger than the file; otherwise, Table
// refuses the file.
package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	magic      = "SQLite format 3\x00"
	headerSize = 100
	maxRows    = 100_000
	// maxColumns is SQLite's default maximum number of columns.
	maxColumns = 2000

	interiorTable = 5
	leafTable     = 13
)

var errDamaged = errors.New("damaged SQLite file")

// ErrNoTable reports that a database has no such table.
var ErrNoTable = errors.New("no such table")

// Table returns the texts of the named columns, in their order, for each row of a table. A
// column that the table does not have is empty.
func Table(data []byte, name string, columns ...string) ([][]string, error) {
	d, err := open(data)
	if err != nil {
		return nil, err
	}
	// type, name, tbl_name, rootpage, sql
	schema, err := d.rows(1, []int{0, 1, 2, 3, 4})
	if err != nil {
		return nil, err
	}
	for _, row := range schema {
		if row[0].text != "table" || row[1].text != name {
			continue
		}
		known, err := columnsOf(row[4].text)
		if err != nil {
			return nil, err
		}
		positions := make([]int, 0, len(columns))
		for _, column := range columns {
			positions = append(positions, slices.Index(known, column))
		}
		rows, err := d.rows(row[3].number, positions)
		if err != nil {
			return nil, err
		}
		out := make([][]string, 0, len(rows))
		for _, values := range rows {
			texts := make([]string, 0, len(values))
			for _, v := range values {
				texts = append(texts, v.text)
			}
			out = append(out, texts)
		}
		return out, nil
	}
	return nil, fmt.Errorf("find table %q: %w", name, ErrNoTable)
}

// columnsOf returns the names of the columns of a CREATE TABLE statement.
func columnsOf(sql string) ([]string, error) {
	_, body, ok := strings.Cut(sql, "(")
	end := strings.LastIndexByte(body, ')')
	if !ok || end < 0 || strings.Contains(strings.ToUpper(body[end:]), "WITHOUT") {
		return nil, errDamaged
	}
	var columns []string
	depth, start := 0, 0
	body = body[:end] + ","
	for i, c := range []byte(body) {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth != 0 {
				continue
			}
			fields := strings.Fields(body[start:i])
			start = i + 1
			if len(fields) == 0 {
				return nil, errDamaged
			}
			switch strings.ToUpper(fields[0]) {
			case "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT":
				continue // it is about the table
			}
			if columns = append(columns, strings.Trim(fields[0], "\"`[]'")); len(columns) > maxColumns {
				return nil, errDamaged
			}
		}
	}
	return columns, nil
}

type database struct {
	data   []byte
	size   int // of a page
	usable int // without the space reserved at its end
}

func open(data []byte) (database, error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return database{}, errors.New("not a SQLite file")
	}
	size := int(binary.BigEndian.Uint16(data[16:]))
	if size == 1 {
		size = 1 << 16
	}
	d := database{data: data, size: size, usable: size - int(data[20])}
	if size < 512 || size&(size-1) != 0 || d.usable < 480 || len(data) < size {
		return database{}, errDamaged
	}
	if encoding := binary.BigEndian.Uint32(data[56:]); encoding > 1 {
		return database{}, errors.New("a SQLite file in an encoding other than UTF-8")
	}
	return d, nil
}

// page returns page n, counted from 1.
func (d database) page(n int) ([]byte, error) {
	if n < 1 || n > len(d.data)/d.size {
		return nil, errDamaged
	}
	return d.data[(n-1)*d.size : n*d.size], nil
}

// value is the value of a column: text, or a whole number.
type value struct {
	text   string
	number int
}

// table is a table that is being read.
type table struct {
	database
	positions []int // of the wanted columns, -1 for a missing one
	rows      [][]value
	left      int // the maximum number of bytes in the following rows
}

// rows returns the values at some positions, in their order, of each row of the table whose tree
// begins at a page. A missing value is empty.
func (d database) rows(root int, positions []int) ([][]value, error) {
	t := table{database: d, positions: positions, left: len(d.data)}
	met := map[int]bool{}
	todo := []int{root}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if met[n] {
			return nil, errDamaged
		}
		met[n] = true
		page, err := d.page(n)
		if err != nil {
			return nil, err
		}
		below, err := t.node(page, n == 1)
		if err != nil {
			return nil, err
		}
		if todo = append(todo, below...); len(todo) > len(d.data)/d.size {
			return nil, errDamaged
		}
	}
	return t.rows, nil
}

// node adds the rows of a leaf, or returns the pages below an interior page. The first page
// of a file begins with the file's header.
func (t *table) node(page []byte, first bool) (below []int, err error) {
	at := 0
	if first {
		at = headerSize
	}
	cells, pointers := int(binary.BigEndian.Uint16(page[at+3:])), at+8
	interior := page[at] == interiorTable
	switch {
	case interior:
		pointers = at + 12
		below = append(below, int(binary.BigEndian.Uint32(page[at+8:])))
	case page[at] != leafTable:
		return nil, errDamaged
	}
	if pointers+2*cells > len(page) {
		return nil, errDamaged
	}
	for i := range cells {
		cell := int(binary.BigEndian.Uint16(page[pointers+2*i:]))
		if cell+4 > t.usable {
			return nil, errDamaged
		}
		if interior {
			below = append(below, int(binary.BigEndian.Uint32(page[cell:])))
			continue
		}
		payload, err := t.payload(page, cell)
		if err != nil {
			return nil, err
		}
		row, err := record(payload, t.positions)
		if err != nil {
			return nil, err
		}
		if t.rows = append(t.rows, row); len(t.rows) > maxRows {
			return nil, errDamaged
		}
	}
	return below, nil
}

// payload returns the content of a leaf's cell, including overflow pages.
func (t *table) payload(page []byte, at int) ([]byte, error) {
	d := t.database
	size, n := varint(page[at:d.usable])
	if n == 0 || size < 0 || size > int64(t.left) {
		return nil, errDamaged
	}
	t.left -= int(size)
	at += n
	if _, n = varint(page[at:d.usable]); n == 0 { // the rowid
		return nil, errDamaged
	}
	at += n
	total := int(size)
	local := total
	if maximum := d.usable - 35; total > maximum {
		minimum := (d.usable-12)*32/255 - 23
		local = minimum + (total-minimum)%(d.usable-4)
		if local > maximum {
			local = minimum
		}
	}
	if at+local > d.usable {
		return nil, errDamaged
	}
	out := append(make([]byte, 0, total), page[at:at+local]...)
	if local == total {
		return out, nil
	}
	if at+local+4 > d.usable {
		return nil, errDamaged
	}
	next := int(binary.BigEndian.Uint32(page[at+local:]))
	for len(out) < total {
		more, err := d.page(next)
		if err != nil {
			return nil, err
		}
		next = int(binary.BigEndian.Uint32(more))
		out = append(out, more[4:min(d.usable, 4+total-len(out))]...)
	}
	return out, nil
}

// record returns the values at some positions of a row.
func record(payload []byte, positions []int) ([]value, error) {
	size, n := varint(payload)
	if n == 0 || size < int64(n) || size > int64(len(payload)) {
		return nil, errDamaged
	}
	header, body := payload[n:size], payload[size:]
	row := make([]value, len(positions))
	for at := 0; len(header) > 0; at++ {
		kind, n := varint(header)
		if n == 0 || kind < 0 {
			return nil, errDamaged
		}
		header = header[n:]
		width := width(kind)
		if width < 0 || width > int64(len(body)) {
			return nil, errDamaged
		}
		for i, position := range positions {
			if position == at {
				row[i] = valueOf(kind, body[:width])
			}
		}
		body = body[width:]
	}
	return row, nil
}

// width returns the size of a value of a serial type in bytes.
func width(kind int64) int64 {
	switch {
	case kind >= 12:
		return (kind - 12) / 2
	case kind == 5:
		return 6
	case kind == 6 || kind == 7:
		return 8
	case kind >= 1 && kind <= 4:
		return kind
	case kind == 10 || kind == 11: // reserved
		return -1
	}
	return 0
}

func valueOf(kind int64, body []byte) value {
	switch {
	case kind >= 13 && kind%2 == 1:
		return value{text: string(body)}
	case kind == 9:
		return value{number: 1}
	case kind >= 1 && kind <= 4:
		n := 0
		for _, b := range body {
			n = n<<8 | int(b)
		}
		return value{number: n} // page numbers, which are not negative
	}
	return value{}
}

// varint reads a number of 1 to 9 bytes and returns its size, 0 if it is truncated.
func varint(b []byte) (int64, int) {
	var v uint64
	for i := range min(len(b), 9) {
		if i == 8 {
			return int64(v<<8 | uint64(b[i])), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return int64(v), i + 1
		}
	}
	return 0, 0
}
