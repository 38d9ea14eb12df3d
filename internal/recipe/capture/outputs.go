package capture

import (
	"io"

	"github.com/copse-dev/copse/internal/recipe/quotation"
)

// Outputs are the two writers of a run. An [Output] among them gets the marks of its end.
type Outputs struct {
	io.Writer // both

	each []io.Writer
	read *quotation.Writer // removes what an assistant must not read
}

// To returns the outputs of a run, which omit what just quotes of files that were not checked, and of files with
// variables if it reads any. At a person's terminal, the second one shows everything, and at once.
func To(kept *Output, out io.Writer, checked quotation.Checked, variables, terminal bool) *Outputs {
	each := []io.Writer{kept, out}
	if terminal {
		read := quotation.New(kept, checked, variables)
		return &Outputs{io.MultiWriter(read, out), each, read}
	}
	read := quotation.New(io.MultiWriter(each...), checked, variables)
	return &Outputs{read, each, read}
}

// stored returns those that store what they get, which is complete then.
func (o *Outputs) stored() (all []*Output) {
	_ = o.read.Flush() // a writer that fails now has failed before, or stores nothing
	for _, out := range o.each {
		if kept, ok := out.(*Output); ok {
			all = append(all, kept)
		}
	}
	return all
}

// Interrupt calls [Output.Interrupt].
func (o *Outputs) Interrupt() {
	for _, kept := range o.stored() {
		kept.Interrupt()
	}
}

// End calls [Output.End].
func (o *Outputs) End(redact func(string) string) {
	for _, kept := range o.stored() {
		kept.End(redact)
	}
}
