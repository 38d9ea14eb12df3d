package recipe

import "context"

// program returns the path of just. One in the project does not count, although its recipes find the
// project's programs. The error is a [NotInstalledError], or says why just does not start.
func (j *Justfile) program(ctx context.Context) (string, error) {
	path, err := j.names().LookPath("just")
	if err != nil {
		return "", j.explain(err)
	}
	return j.launched.Find(ctx, path, j.names()), nil
}
