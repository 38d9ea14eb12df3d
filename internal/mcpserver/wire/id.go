package wire

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// IDError reports that the library would answer a message with another ID: it keeps numbers as 64-bit
// integers, and reads them as floating-point numbers.
type IDError struct {
	// ID is the ID of the message, null if it is too long to be repeated.
	ID json.RawMessage
}

func (*IDError) Error() string {
	return "the id of a request must be a string, or an integer between -9007199254740991 and 9007199254740991"
}

// maxExact is the largest integer that a floating-point number represents, and the next one, too.
const maxExact = 1<<53 - 1

// isExact reports whether the library keeps the number of an ID as it is.
func isExact(number string) bool {
	const maxLength, maxExponent = 40, 20 // the digits of 1e999999999 fill the memory
	if len(number) > maxLength {
		return false
	}
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		if n, err := strconv.Atoi(number[i+1:]); err != nil || n < -maxExponent || n > maxExponent {
			return false
		}
	}
	n, ok := new(big.Rat).SetString(number)
	return ok && n.IsInt() && n.Num().CmpAbs(big.NewInt(maxExact)) <= 0
}

// CheckID returns an [IDError] if the ID is a number that the library would change.
func (e Envelope) CheckID() error {
	const maxRepeated = 100
	if len(e.ID) == 0 || e.ID[0] != '-' && (e.ID[0] < '0' || e.ID[0] > '9') {
		return nil // no ID, or none that is a number
	}
	if isExact(string(e.ID)) {
		return nil
	}
	if len(e.ID) > maxRepeated {
		e.ID = json.RawMessage("null")
	}
	return &IDError{e.ID}
}
