package setting

import (
	"strings"

	"github.com/copse-dev/copse/internal/lazyregexp"
)

const (
	// names matches the end of the name of a secret.
	names = `(?:token|pass|passw(?:or)?d|pass[-_]?phrase|secret|(?:api|access|auth|secret)[-_]?key)(?:[-_]?value)?`
	// maxInside limits how often a word of a command is read as another command.
	maxInside = 4
	// maxFlags is how many words after sshpass are read as its arguments.
	maxFlags = 32
)

var (
	// option matches an option whose value is a secret and the next word: "--token".
	option = lazyregexp.New(`(?i)^--?(?:[\w-]+[-_])?(?:` + names + `|pw)$`)
	// assigned matches a variable, an option, or a parameter that is a secret: "PASSWORD=x". Where it does not
	// begin a word, its value ends like one.
	assigned = lazyregexp.New(`(?i)(?:^-*[\w-]*` + names + `=(.+)|[\w-]*` + names + `=("[^"]*"|'[^']*'|[^\s"';&|()<>]+))`)
	// credential matches a header that is a secret, behind the option of curl or without it.
	credential = lazyregexp.New(`(?i)^(-H|--header=)?[\w-]*(?:authorization|cookie|token|secret|key|password)[\w-]*\s*:`)
	// extra matches the beginning of a setting of git with any header.
	extra = lazyregexp.New(`(?i)^http\.(?:.*\.)?extraheader=`)
	// account matches the option of curl with a login.
	account = lazyregexp.New(`^(?:-u|-U|--user|--proxy-user)=?(.*)$`)
	// placeholder matches what a command fills in: "%s" or "%TOKEN%".
	placeholder = lazyregexp.New(`^%(?:[a-z]\b|\w+%)`)
)

// inCommand calls add with the passwords in a command of a shell: as a variable or a parameter ("PASSWORD=x"), as the
// value of an option whose name is that of a secret ("--token x"), as the one that sshpass types in ("sshpass -p
// x"), in a header ("Authorization: Bearer x"), and as the login that curl gets ("curl -u ada:x"). What the command takes from elsewhere, as in "--token $TOKEN", is none, and neither is a program that asks.
func inCommand(command string, inside int, add func(login, secret string)) {
	if !strings.ContainsAny(command, " \t\n=") {
		return // it has no password, and there can be thousands of settings
	}
	all := words(command)
	curl := false
	for i, w := range all {
		if curl = w.text != "" && (curl || w.isProgram("curl")); curl {
			inAccount(w, all[i+1:], add)
		}
		inCredential(w, i > 0 && (all[i-1].text == "-H" || all[i-1].text == "--header"), add)
		switch {
		case w.isProgram("sshpass"):
			typed(all[i+1:min(len(all), i+1+maxFlags)], add)
		case i+1 < len(all) && strings.HasPrefix(w.text, "-") && option.Get().MatchString(w.text):
			if value := all[i+1]; !strings.HasPrefix(value.text, "-") && !value.elsewhere(value.text) {
				add("", value.text)
			}
		}
		whole := inAssigned(w, add)
		if !whole && inside < maxInside && strings.ContainsAny(w.text, " \t\n") {
			inCommand(w.text, inside+1, add)
		}
	}
}

// inAssigned calls add with the secrets in the assignments of a word, and reports whether the whole word is one.
func inAssigned(w word, add func(login, secret string)) (whole bool) {
	if !strings.Contains(w.text, "=") {
		return false
	}
	for _, f := range assigned.Get().FindAllStringSubmatch(w.text, -1) {
		whole = whole || f[1] != ""
		name, _, _ := strings.Cut(f[0], "=")
		value := f[1] + f[2]
		for _, end := range []string{"\n", `\n`, `\r`} {
			value, _, _ = strings.Cut(value, end)
		}
		if value = strings.Trim(value, `"'`); !strings.HasSuffix(strings.ToLower(name), "askpass") && !w.elsewhere(value) {
			add("", value)
		}
	}
	return whole
}

// inCredential calls add with the secrets in a header that is a word: the value of an option, as option tells, or with
// the option before it.
func inCredential(w word, option bool, add func(login, secret string)) {
	if !strings.Contains(w.text, ":") || w.elsewhere(w.text[strings.LastIndexAny(w.text, ": ")+1:]) {
		return
	}
	if found := credential.Get().FindStringSubmatch(w.text); found != nil && (option || found[1] != "") {
		inHeader(w.text[len(found[1]):], add)
	}
	if setting := extra.Get().FindString(w.text); setting != "" {
		inHeader(w.text[len(setting):], add)
	}
}

// inAccount calls add with the login in an option of curl, or in the word after it.
func inAccount(option word, rest []word, add func(login, secret string)) {
	found := account.Get().FindStringSubmatch(option.text)
	if found == nil {
		return
	}
	w, login := option, found[1]
	if login == "" && len(rest) > 0 {
		w, login = rest[0], rest[0].text
	}
	if name, password, ok := strings.Cut(login, ":"); ok && !w.elsewhere(password) {
		add(name, password)
	}
}

// typed calls add with the password in the arguments of sshpass.
func typed(arguments []word, add func(login, secret string)) {
	for i := 0; i < len(arguments); i++ {
		flags, ok := strings.CutPrefix(arguments[i].text, "-")
		if !ok {
			return
		}
		at := strings.IndexAny(flags, "fdpP") // flags with a value
		if at < 0 {
			continue
		}
		w, value := arguments[i], flags[at+1:]
		if value == "" && i+1 < len(arguments) {
			i++
			w, value = arguments[i], arguments[i].text
		}
		if flags[at] == 'p' && value != "" && !w.expands(value) {
			add("", value)
		}
	}
}

// word is a word of a command, without its quotation marks; "" stands for what ends a command.
type word struct {
	text    string
	literal bool // the shell replaces nothing in it
}

// isProgram reports whether the word is the path of a program.
func (w word) isProgram(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(strings.ToLower(w.text), ".exe"), name)
}

// expands reports whether the shell replaces the beginning of a part of the word.
func (w word) expands(part string) bool { return !w.literal && strings.IndexAny(part, "$`") == 0 }

// elsewhere reports whether a part of the word comes from elsewhere, or is empty.
func (w word) elsewhere(part string) bool {
	return part == "" || w.expands(part) || part[0] == '%' && placeholder.Get().MatchString(part)
}

// words returns the words of a command as a shell splits it. A quotation that does not end is one to the end.
func words(command string) []word {
	var all []word
	var text strings.Builder
	begun, literal := false, true
	end := func() {
		if begun {
			all = append(all, word{text.String(), literal})
		}
		text.Reset()
		begun, literal = false, true
	}
	quote := byte(0)
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case c == '\\' && quote != '\'' && i+1 < len(command) && (quote == 0 || strings.IndexByte("\\\"$`\n", command[i+1]) >= 0):
			if i++; command[i] != '\n' {
				text.WriteByte(command[i])
				begun = true
			}
		case quote == 0 && (c == ' ' || c == '\t'):
			end()
		case quote == 0 && strings.IndexByte("\n\r;&|()<>", c) >= 0:
			end()
			all = append(all, word{})
		default:
			literal = literal && (quote == '\'' || c != '$' && c != '`')
			text.WriteByte(c)
			begun = true
		}
	}
	end()
	return all
}
