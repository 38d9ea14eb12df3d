package graphql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/remoteurl"
)

// MaxBatch is the maximum number of branches in one request. GitHub allows ten seconds for it.
const MaxBatch = 50

// The prefixes of the fields of a batch, before the index of a branch: the open pull requests with
// its name, the merged or closed ones, and the one with its number.
const (
	OpenAlias   = "o"
	EndedAlias  = "e"
	NumberAlias = "p"
)

// BatchVariables returns the variables of a batch: a name or a number for each branch.
func BatchVariables(r remoteurl.Repo, heads []pullrequest.Head) map[string]any {
	v := map[string]any{"owner": r.Owner, "name": r.Name}
	for i, h := range heads {
		if h.Number > 0 {
			v["n"+strconv.Itoa(i)] = h.Number
		} else {
			v["h"+strconv.Itoa(i)] = h.Branch
		}
	}
	return v
}

// BatchDocument returns the text of the query with such variables, which depends on nothing else:
// the check of outgoing requests writes it again and compares.
func BatchDocument(variables map[string]any, queue bool) string {
	var head, body strings.Builder
	head.WriteString("query($owner:String!,$name:String!")
	for i := range MaxBatch {
		n := strconv.Itoa(i)
		if _, ok := variables["n"+n]; ok {
			fmt.Fprintf(&head, ",$n%s:Int!", n)
			fmt.Fprintf(&body, "%s%s:pullRequest(number:$n%s){...whole}\n", NumberAlias, n, n)
			continue
		}
		if _, ok := variables["h"+n]; !ok {
			break
		}
		fmt.Fprintf(&head, ",$h%s:String!", n)
		const list = "%s%s:pullRequests(headRefName:$h%s,states:[%s],first:%d,orderBy:{field:CREATED_AT,direction:DESC}){nodes{...%s}}\n"
		fmt.Fprintf(&body, list, OpenAlias, n, n, "OPEN", 3, "whole")
		fmt.Fprintf(&body, list, EndedAlias, n, n, "CLOSED,MERGED", 3, "core")
	}
	head.WriteString("){\nrepository(owner:$owner,name:$name){\n" + body.String() + batchFragments)
	if queue {
		head.WriteString(documentQueue)
	}
	head.WriteString("}")
	return head.String()
}

const batchFragments = `}}
fragment actor on Actor{__typename login}
fragment whole on PullRequest{...core
reviews(last:50){nodes{author{...actor}state}}
reviewThreads(last:100){totalCount pageInfo{hasPreviousPage startCursor}nodes{isResolved}}
statusCheckRollup{state contexts(first:100){totalCount pageInfo{hasNextPage endCursor}
nodes{__typename ...on CheckRun{name status conclusion}...on StatusContext{context state}}}}}
fragment core on PullRequest{number title author{...actor}url state isDraft baseRefName headRefName headRefOid isCrossRepository headRepository{nameWithOwner}
mergeable mergeStateStatus reviewDecision autoMergeRequest{mergeMethod}`
