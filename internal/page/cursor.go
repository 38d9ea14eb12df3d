package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
)

// A cursor is the base64url form, without padding, of
//
//	version   1 byte
//	query     6 bytes, the beginning of the query's SHA-256
//	position  any number of bytes
//	check     4 bytes, CRC-32 (IEEE) of all before, big-endian
//
// The checksum distinguishes a damaged or mistyped cursor from one of another
// query; it is not a protection, and need not be one.
const (
	cursorVersion = 1
	headSize      = 1 + len(queryHash{})
	checkSize     = 4
	// maxCursor limits the work on invalid input. No position comes near it.
	maxCursor = 64 << 10
)

type queryHash [6]byte

func hashQuery(query string) queryHash {
	sum := sha256.Sum256([]byte(query))
	return queryHash(sum[:])
}

// CursorError reports that a cursor is unusable.
type CursorError struct {
	// Reason continues after the word "cursor": "belongs to another query".
	Reason string
}

func (e *CursorError) Error() string {
	return "cursor " + e.Reason + "; call again without cursor"
}

func encodeCursor(query queryHash, position string) string {
	b := make([]byte, 0, headSize+len(position)+checkSize)
	b = append(b, cursorVersion)
	b = append(b, query[:]...)
	b = append(b, position...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor returns the position in cursor, which must be exactly the result of encodeCursor for
// query.
func decodeCursor(cursor string, query queryHash) (string, error) {
	damaged := &CursorError{Reason: "is damaged or not from this program"}
	if len(cursor) > maxCursor {
		return "", damaged
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) < headSize+checkSize {
		return "", damaged
	}
	body, check := b[:len(b)-checkSize], b[len(b)-checkSize:]
	if binary.BigEndian.Uint32(check) != crc32.ChecksumIEEE(body) {
		return "", damaged
	}
	if body[0] != cursorVersion {
		return "", &CursorError{Reason: "is from another version of the program"}
	}
	if queryHash(body[1:headSize]) != query {
		return "", &CursorError{Reason: "belongs to another query"}
	}
	position := string(body[headSize:])
	if encodeCursor(query, position) != cursor { // line breaks, stray bits at the end
		return "", damaged
	}
	return position, nil
}
