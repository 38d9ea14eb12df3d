package splice_test

import "testing"

// A reason names what the recipe does, and the advice fits the recipe: it is nothing that the recipe does
// already.
func TestAdvice(t *testing.T) {
	t.Parallel()
	const positional = "set positional-arguments\n"
	found := map[string]string{}
	for text, want := range map[string]string{
		"r x:\n  @echo {{x}}":                      `the recipe inserts it without quote(); write {{quote(x)}} outside quotation marks, or add "set positional-arguments" and use "$1"`,
		positional + "r y='' x='':\n  @echo {{x}}": `the recipe inserts it without quote(); write {{quote(x)}} outside quotation marks, or use "$2"`,
		"r *x:\n  @echo {{x}}":                     `the recipe inserts it without quote(); add "set positional-arguments" and use "$@"`,
		positional + "r y *x:\n  @echo {{x}}":      `the recipe inserts it without quote(); use "${@:2}" in bash`,
		"r x:\n  @echo \"{{quote(x)}}\"":           `quote() does not protect it inside quotation marks, a comment, a here-document, or an expansion, in the command echo; write {{quote(x)}} outside of these, or add "set positional-arguments" and use "$1"`,
		"r x:\n  #!/usr/bin/env python3\n  print('{{x}}')": "the recipe inserts it into a script that is not for a POSIX shell; " +
			"add [positional-arguments] to the recipe, and read argument 1 in the language of the script, such as sys.argv[1] in Python",
		positional + "r x:\n  #!/usr/bin/env python3\n  print({{quote(x)}})": "quote() does not protect it, as the recipe's script is not for a POSIX shell; " +
			"read argument 1 in the language of the script, such as sys.argv[1] in Python",
		positional + "r *x:\n  @cargo build $@": `the shell splits it into words, because the recipe uses it without quotation marks, in the command cargo; write quotation marks around it, as in "$1" and "$@"`,
		"r x:\n  #!/bin/sh\n  cd .\n  exec tool --exec {{quote(x)}}": "the recipe passes it to a program inside a longer text, after an option such as -c or --exec, or as the command to run, and the program can evaluate that, " +
			"in the command exec on line 3; pass it as a word of its own",
		"r x:\n  @eval {{quote(x)}}":   "the recipe passes it to a command that can evaluate it, such as eval, ssh, make, or an interpreter with -c, in the command eval; pass it to a plain command",
		"r x:\n  @just s {{quote(x)}}": `the recipe passes it to just, which can read it as code again, in the command just; name the other recipe as a dependency, as in "recipe x: (other x)"`,
		"r $EDITOR:\n  @echo a":        "programs evaluate the variable of that name; give the parameter another name",
		"r x: (s x)\ns y: (u y)\nu w:\n  @echo {{w}}": `the recipe passes it on to u as w, and there the recipe inserts it without quote(); ` +
			`in u, write {{quote(w)}} outside quotation marks, or add "set positional-arguments" and use "$1"`,
		"r x w=x v=w:\n  @echo {{v}}": `the default value of v uses it, and the recipe inserts it without quote(); write {{quote(v)}} outside quotation marks, or add "set positional-arguments" and use "$3"`,
		"r x:\n  @if {{quote(x)}}": "the script of the recipe is not simple enough for copse to see that the value stays one argument; " +
			`pass it in a plain command, such as "tool {{quote(x)}}", or move the script into a file, and run that with "$1" and the like`,
	} {
		for _, reason := range write(t, text+"\n").analyze()["r"] {
			found[text] = reason
			if reason == want {
				break
			}
		}
		if found[text] != want {
			t.Errorf("%s\n got %s\nwant %s", text, found[text], want)
		}
	}
}
