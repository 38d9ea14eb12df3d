package export

// Marked returns a file as copse writes it.
func Marked(content string) string {
	return content + Client{comment: [2]string{"# "}}.mark(content, Command{})
}
