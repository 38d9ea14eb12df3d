-- What another role of the database may plant: functions and operators of the schema public that match
-- the types of a call better than the built-in ones. Calling one is an error. The function of a
-- statement is therefore a built-in one only if the statement names the schema pg_catalog, or if no
-- other could match better.
do $plant$
declare
	types constant text[] := array['bigint', 'integer', 'text', 'numeric', 'double precision', 'timestamptz', 'interval', 'bigint[]', 'text[]'];
	body constant text := ' language plpgsql as $$ begin raise exception ''planted''; end $$';
	f record;
	name text;
	l text;
	r text;
begin
	-- Functions that take any type, and others for which a type is converted.
	for f in
		select distinct p.proname as name, p.pronargs as n, p.prorettype::regtype::text as result
		from pg_proc p join pg_namespace s on s.oid = p.pronamespace
		where s.nspname = 'pg_catalog' and p.pronargs between 1 and 2 and p.prorettype::regtype::text !~ '^(internal|trigger|pg_ddl|index_am|table_am)'
			and (p.proname in ('sum', 'max', 'min', 'left', 'length', 'octet_length', 'extract', 'pg_notify', 'current_setting', 'has_table_privilege', 'pg_column_size')
				or exists (select from unnest(p.proargtypes) a where a::regtype::text in ('"any"', 'anyarray', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblearray'))
					and p.proname in ('count', 'array_append', 'unnest', 'cardinality', 'array_to_string', 'array_length', 'array_remove', 'concat', 'concat_ws', 'array_agg', 'to_jsonb', 'to_json'))
	loop
		foreach l in array types loop
			foreach r in array (case when f.n = 1 then array[''] else types end) loop
				begin
					execute format('create function public.%I(%s%s) returns %s', f.name, l, case when r = '' then '' else ', ' || r end,
						case when f.result like 'any%' or f.result = '"any"' then 'bigint' else f.result end) || body;
				exception when duplicate_function then null;
				end;
			end loop;
		end loop;
	end loop;
	execute 'create function public.concat_ws(text, bigint, bigint, numeric, numeric, numeric) returns text' || body;
	foreach l in array types loop
		foreach r in array types loop
			execute format('create function public.planted(%s, %s) returns boolean', l, r) || body;
			foreach name in array array['=', '<>', '<', '>', '<=', '>=', '||', '&&', '@>', '<@', '+', '-', '*', '/'] loop
				execute format('create operator public.%s (function = public.planted, leftarg = %s, rightarg = %s)', name, l, r);
			end loop;
		end loop;
	end loop;
end $plant$;
