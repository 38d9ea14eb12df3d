package row

import (
	"fmt"
	"strings"
)

// Any role that may change a row can store a value in it that takes gigabytes to read: a value has
// up to 1 GB, and a list of 30 million short texts is 2 GB in memory. The expressions of this file
// therefore cut values that are larger than any that copse writes: the package item limits them. They look at the stored size first,
// which costs little. A compressed value has at most [compression] times that size.

const (
	compression = 256
	// maxShort is the maximum size in bytes of a text other than a description or a comment.
	maxShort = 1 << 20
	// MaxLong is the maximum size in bytes of a long text, as in the file of an item.
	MaxLong = 8 << 20
	// maxList is the maximum length of a list of texts, and maxListSize that of its texts in bytes.
	maxList, maxListSize = 10_000, 1 << 20
	// maxNumbers is the maximum length of a list of numbers, such as those of the items that a
	// deletion changed.
	maxNumbers = 100_000
	// MaxComments is the maximum number of comments of an item: more than fit into a file.
	MaxComments = 200_000
)

// Text returns an expression with the value of a column of at most limit bytes, or the beginning of a
// longer value.
func Text(column string, limit int) string {
	return fmt.Sprintf(`case when pg_catalog.pg_column_size(%[1]s) <= %[2]d then %[1]s when pg_catalog.octet_length(%[1]s) <= %[3]d then %[1]s
		else pg_catalog.concat(pg_catalog."left"(%[1]s, 1000), '…') end`, column, limit/compression, limit)
}

// texts returns the short texts of columns, in a list.
func texts(columns ...string) string {
	all := make([]string, len(columns))
	for i, column := range columns {
		all[i] = Text(column, maxShort)
	}
	return strings.Join(all, ", ")
}

// lists is texts for columns with lists of texts.
func lists(columns ...string) string {
	all := make([]string, len(columns))
	for i, column := range columns {
		all[i] = fmt.Sprintf(`case when pg_catalog.pg_column_size(%[1]s) <= %[2]d then %[1]s
			when pg_catalog.cardinality(%[1]s) <= %[3]d and pg_catalog.octet_length(pg_catalog.array_to_string(%[1]s, '')) <= %[4]d then %[1]s
			else array(select pg_catalog."left"(e, 100) from pg_catalog.unnest(%[1]s[1:%[3]d]) e) end`, column, maxListSize/compression, maxList, maxListSize)
	}
	return strings.Join(all, ", ")
}

// Numbers returns an expression with a list of numbers, or its beginning.
func Numbers(column string) string { return fmt.Sprintf("%s[1:%d]", column, maxNumbers) }
