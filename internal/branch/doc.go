// Package branch models how the branches of a repository are stacked: the tree of all
// branches, and the stack from one branch up to its root.
//
// Both need two inputs: the record of the program twig (package
// [github.com/copse-dev/copse/internal/branch/twig]) and the branches of git ([Refs]). Nothing here
// reads a file or runs a program.
//
//   - [NewGraph] joins the two, [Graph.Tree] returns a tree within a [Limit], and
//     [Node.Text] draws that tree;
//   - [Stack] needs no graph and no list of branches; its cost is proportional to the length
//     of the stack.
//
// A branch is missing if twig's file declares it, as one end of a dependency
// or as a root, and git does not have it. Missing branches appear with a mark,
// because other branches are still stacked on them. A branch that git does not have
// and that is only linked to an issue or a pull request appears only on request.
//
// # The tree
//
// Every declared dependency is an edge; children are sorted by bytes. A branch
// with two parents appears under both, with its own children only the first time,
// read from top to bottom (in a tree that had to be cut: at the place
// nearest to the root, so a remaining place never hides its children). A cycle
// therefore ends at the repeated name.
//
// The home root is the root of the tree without an explicit root: the
// default root if it exists, else the first configured root that exists, else
// git's default branch if it exists, else the current branch. It has all branches
// that no other tree would contain: branches without a parent that are not
// themselves existing roots, and, by its first name, each cycle that no root leads
// to. Every branch is thus in the tree of the home root or of a configured root.
package branch
