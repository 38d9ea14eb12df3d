// Package graphql contains the GraphQL documents that copse sends to GitHub, and decodes their
// answers.
//
// Use [Document] for one pull request and [BatchDocument] for those of several branches. [Allowed]
// recognizes the requests that carry one of these documents: they only read. The package sends
// nothing.
package graphql

import (
	"strings"

	"github.com/copse-dev/copse/internal/github/remoteurl"
)

// Shape selects the parts of the document that only some servers or tokens allow. One field that
// the server does not know, or that the token may not see, fails the whole document.
type Shape struct {
	// teams are the names of teams, which need the scope read:org.
	teams bool
	// queue is the merge queue, which Enterprise servers before 3.8 do not have.
	queue bool
}

// Shapes are tried in this order.
var Shapes = [...]Shape{{true, true}, {false, true}, {true, false}, {false, false}} //nolint:gochecknoglobals // a constant

// The parts of the document. $core is true in the first request for a pull request. The other
// variables select the lists to continue, and the positions.
const (
	documentHead = `query($owner:String!,$name:String!,$number:Int!,$core:Boolean!,
$withReviews:Boolean!,$withThreads:Boolean!,$withChecks:Boolean!,$reviews:String,$threads:String,$checks:String){
repository(owner:$owner,name:$name){pullRequest(number:$number){
...core@include(if:$core)
reviews(last:100,before:$reviews)@include(if:$withReviews){totalCount pageInfo{hasPreviousPage startCursor}
nodes{author{...actor}state}}
reviewThreads(last:100,before:$threads)@include(if:$withThreads){totalCount pageInfo{hasPreviousPage startCursor}
nodes{isResolved isOutdated path line originalLine opening:comments(first:1){totalCount nodes{author{...actor}authorAssociation body url createdAt}}
latest:comments(last:1){nodes{createdAt}}}}
statusCheckRollup@include(if:$withChecks){state contexts(first:100,after:$checks){totalCount pageInfo{hasNextPage endCursor}
nodes{__typename
...on CheckRun{databaseId name status conclusion detailsUrl isRequired(pullRequestNumber:$number)checkSuite{app{slug}}}
...on StatusContext{context state targetUrl isRequired(pullRequestNumber:$number)}}}}}}}
fragment actor on Actor{__typename login}
fragment core on PullRequest{number title url body state isDraft createdAt updatedAt author{...actor}authorAssociation
baseRefName headRefName headRefOid isCrossRepository headRepository{nameWithOwner}mergeable mergeStateStatus reviewDecision
labels(first:50){nodes{name}}autoMergeRequest{enabledAt mergeMethod enabledBy{...actor}}
baseRef{refUpdateRule{requiredApprovingReviewCount requiredStatusCheckContexts requiresConversationResolution requiresCodeOwnerReviews}}
reviewRequests(first:100){nodes{requestedReviewer{__typename ...on User{login}...on Bot{login}...on Mannequin{login}`
	documentTeams = `...on Team{slug}`
	documentQueue = `mergeQueueEntry{state position}`
)

// Document returns the text of the one GraphQL document, a query.
func Document(s Shape) string {
	var b strings.Builder
	b.WriteString(documentHead)
	if s.teams {
		b.WriteString(documentTeams)
	}
	b.WriteString("}}}\n")
	if s.queue {
		b.WriteString(documentQueue)
	}
	b.WriteString("}")
	return b.String()
}

// Variables select the part of a pull request to read: its core, and its lists from a position on.
// A list begins at "".
type Variables struct {
	Core                     bool
	Reviews, Threads, Checks *string
}

// Everything returns the first request for a status.
func Everything() Variables {
	return Variables{Core: true, Reviews: new(""), Threads: new(""), Checks: new("")}
}

// Values returns the variables of the document for pull request n.
func (v Variables) Values(r remoteurl.Repo, n int) map[string]any {
	orNil := func(cursor *string) any {
		if cursor == nil || *cursor == "" {
			return nil
		}
		return *cursor
	}
	return map[string]any{
		"owner": r.Owner, "name": r.Name, "number": n, "core": v.Core,
		"withReviews": v.Reviews != nil, "withThreads": v.Threads != nil, "withChecks": v.Checks != nil,
		"reviews": orNil(v.Reviews), "threads": orNil(v.Threads), "checks": orNil(v.Checks),
	}
}
