// Package taking has the statements with which an agent claims the best free item, and gives an item back.
// Each does all of it: no transaction is open between two messages, so agents wait for one another as
// little as possible. [connection.Often] runs them.
package taking

import (
	"encoding/json"
	"time"

	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/postgres/connection"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
)

// Wanted are items to take one of.
type Wanted struct {
	// IDs are the numbers of the items, the best first.
	IDs     []int64
	Project int64
	Version int64
	// Only means that the change stops if the project has changed since the version.
	Only bool
}

// Args returns the arguments of [Take].
func (w Wanted) Args(key string, by claim.Agent, lease time.Duration) ([]any, error) {
	holder, err := json.Marshal(by)
	return []any{
		w.Project, w.IDs, w.Version, key, sqltext.Encode(by.Name), sqltext.Encode(by.Host), string(holder),
		claim.Grace.Milliseconds(), lease.Milliseconds(), w.Only,
	}, err
}

// Take returns the statement that claims the first of the items that is free, with the columns of
// [row.ScanClaimed]. It leaves out the items that somebody holds before it looks at any of the others.
func Take() string {
	return `with free as (
		select f.id from (
			select c.id from pg_catalog.unnest($2::bigint[]) with ordinality as c (id, place)
			where not exists (select 1 from copse.claim k where k.project_id = $1 and k.item_id = c.id
				and k.expires > pg_catalog.clock_timestamp() and (k.gone is null or k.gone > pg_catalog.clock_timestamp() - $8::double precision * interval '1 millisecond'))
			order by c.place
		) c cross join lateral (
			select i.id from copse.item i
			where i.project_id = $1 and i.id = c.id and i.state = 'live' and i.version <= $3
			for no key update of i skip locked
		) f
		where exists (select 1 from copse.project p where p.id = $1 and p.moved = '' and (not $10 or p.version = $3))
		limit 1
	), taken as (
		insert into copse.claim as k (project_id, item_id, key, agent, host, holder, since, renewed, expires)
		select $1, free.id, $4, $5, $6, $7, t.now, t.now, t.now + $9::double precision * interval '1 millisecond'
		from free, (select pg_catalog.clock_timestamp() as now) t
		on conflict (project_id, item_id) do update set key = excluded.key, agent = excluded.agent, host = excluded.host,
			holder = excluded.holder, since = excluded.since, renewed = excluded.renewed, expires = excluded.expires,
			gone = null, stolen_from = ''
			where k.expires <= excluded.since or k.gone <= excluded.since - $8::double precision * interval '1 millisecond'
		returning k.*
	)
	select ` + row.ClaimedColumns() + connection.ProcessColumn + " from taken k join copse.item i on i.project_id = k.project_id and i.id = k.item_id"
}

// GiveBack returns the statement that ends the claim that the agent of $3, a holder, has of the item $2 of
// the project named $1, with the columns of [row.ScanClaim] and the number of the project.
func GiveBack() string {
	return `delete from copse.claim k using copse.project p
	where p.name = $1 and k.project_id = p.id and k.item_id = $2 and k.holder = $3 and k.gone is null and k.expires > pg_catalog.clock_timestamp()
	returning ` + row.ClaimColumns() + ", k.project_id" + connection.ProcessColumn
}
