package row

const (
	claimsOf = " from copse.claim k join copse.project p on p.id = k.project_id where p.name = $1 and k.expires > pg_catalog.clock_timestamp()"
	// SelectClaimState returns a text that changes with each change of the claims of a project:
	// every claim and every renewal has a later time than those that it could be mistaken for.
	// The bounds are for times that no copse wrote, such as infinity, which have no sum.
	SelectClaimState = "select pg_catalog.concat_ws(' ', pg_catalog.count(*), pg_catalog.count(k.gone), pg_catalog.sum(k.item_id), " + seconds + "k.renewed" + inAll + ", " + seconds + "k.gone" + inAll + ")" + claimsOf

	seconds = "pg_catalog.sum(extract(epoch from least(greatest("
	inAll   = ", timestamptz '1970-01-01 00:00:00+00'), timestamptz '9999-01-01 00:00:00+00')))"
)

// SelectClaims returns the statement that reads the claims of a project.
func SelectClaims() string { return "select " + ClaimColumns() + claimsOf }
