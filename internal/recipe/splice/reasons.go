package splice

import (
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/recipe/splice/plain"
)

// The reasons why a parameter is spliced. What the author can do follows a semicolon; without one, it
// depends on the recipe.
const (
	unquoted     = "the recipe inserts it without quote()"
	unquotedText = "the recipe inserts it into a script that is not for a POSIX shell"
	notShell     = "quote() does not protect it, as the recipe's script is not for a POSIX shell"
	defined      = "the recipe passes it to a function that the justfile defines; write what the function does into the recipe"
	attribute    = "an attribute of the recipe uses it; write a constant there"
	special      = "programs evaluate the variable of that name; give the parameter another name"
	unknownShell = "copse does not know how the program that runs the recipe reads it; let sh, bash, or a programming language run the recipe"
	passedOn     = "the recipe passes it on to "
	// composedArgument follows a passedOn.
	composedArgument = " inside a longer text, or after other words; pass it as an argument of its own"
	asDefault        = "the default value of "
)

// maxName limits the length of the names in a reason. Thousands of recipes can form a chain.
const maxName = 100

// advised returns a reason for a parameter with what the author of the recipe can do.
func (r *recipe) advised(name, reason string) string {
	at := r.named[name]
	many := r.Parameters[at-1].Kind == "star" || r.Parameters[at-1].Kind == "plus"
	setting, attribute := `add "set positional-arguments" and `, "add [positional-arguments] to the recipe, and "
	if r.positional() {
		setting, attribute = "", ""
	}
	use := fmt.Sprintf(`%suse "$%d"`, setting, at)
	switch {
	case many && at == 1:
		use = setting + `use "$@"`
	case many:
		use = fmt.Sprintf(`%suse "${@:%d}" in bash`, setting, at)
	}
	switch reason {
	case unquoted:
		if !many {
			use = fmt.Sprintf("write {{quote(%s)}} outside quotation marks, or %s", name, use)
		}
	case unquotedText, notShell:
		use = fmt.Sprintf("%sread argument %d in the language of the script", attribute, at)
		if r.isScript() {
			use += fmt.Sprintf(", such as sys.argv[%d] in Python", at)
		}
	default:
		if !strings.HasPrefix(reason, plain.Quoted) {
			return reason
		}
		use = "write {{quote(" + name + ")}} outside of these, or " + use
	}
	return reason + "; " + use
}

// passed returns the reason for a parameter that another recipe gets. Only the last one can change it.
func passed(to, parameter, reason string) string {
	if strings.HasPrefix(reason, passedOn) {
		return reason
	}
	to, parameter = to[:min(len(to), maxName)], parameter[:min(len(parameter), maxName)]
	why, advice, _ := strings.Cut(reason, "; ")
	text := passedOn + to + " as " + parameter + ", and there " + why
	if advice != "" {
		text += "; in " + to + ", " + advice
	}
	return text
}

// defaulted returns the reason for a parameter that the default value of another one has.
func defaulted(parameter, reason string) string {
	if strings.HasPrefix(reason, asDefault) {
		return reason
	}
	return asDefault + parameter[:min(len(parameter), maxName)] + " uses it, and " + reason
}
