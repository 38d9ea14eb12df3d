// Package branch answers how the branches of a repository are stacked: the
// tree of all of them, and the stack from one branch up to its root.
//
// Both come from two arguments: what the program twig has recorded (package
// [github.com/copse-dev/copse/internal/branch/twig]) and what git says ([Refs]). Nothing here reads a file or runs a program.
//
//   - [NewGraph] joins the two, [Graph.Tree] cuts a tree to a [Limit] from it, and
//     [Node.Text] draws that tree;
//   - [Stack] needs no graph and no list of branches; it costs what the stack is
//     long.
//
// A branch is missing when twig's file declares it, as one end of a dependency
// or as a root, and git does not have it. Missing branches are shown and marked,
// because what was stacked on them still is. A branch that git does not have
// and that is only linked to an issue or a pull request is shown when it is
// asked for.
//
// # The tree
//
// Every declared dependency is an edge; children are sorted by bytes. A branch
// with two parents is shown under both, with its own children the first time
// only, read from top to bottom (in a tree that had to be cut: at the place
// nearest to the root, so that no place that stays hides what it has). A cycle
// therefore ends at the repeated name.
//
// The home root is the root of the tree nobody asked a certain root for: the
// default root if it exists, else the first configured root that exists, else
// the branch git calls default if it exists, else the current branch. What
// nothing else would show hangs under it: branches without a parent that are not
// themselves existing roots, and, by its first name, a cycle that no root leads
// to. Every branch is so in the tree of the home root or of a configured root.
package branch
