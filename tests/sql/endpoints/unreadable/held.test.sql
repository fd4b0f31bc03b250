-- An endpoint whose secrets cannot be read is held with its reason, and is served again when all can be read.
begin;
\ir ../../_helpers.sql
select plan(19);

create function lose(p_vault_id uuid) returns void language sql as $$
  delete from vault.secrets where id = p_vault_id
$$;
create function secret_of(p_id uuid) returns uuid language sql as $$
  select vault_id from outbox.endpoint_secret where endpoint_id = p_id and expires_at is null
$$;
create function news(p_type text) returns integer language sql as $$
  select count(*)::integer from outbox.event where type = p_type
$$;
create temporary table made as select endpoint() as lost, endpoint() as good, endpoint() as paused;
do $$ begin perform outbox.set_headers(lost, '{"x-api-key": "secret"}') from made; end $$;
select lose(secret_of(lost)), lose(secret_of(paused)) from made;
select lose(headers_vault_id) from outbox.endpoint join made on lost = id;
do $$ begin perform outbox.pause_endpoint(paused, 'by hand') from made; end $$;
do $$ begin perform events(2); end $$;
create temporary table answer as select step() as a;
select results_eq('select claimed(a), claimed(a, good) from answer, made', 'values (2, 2)', 'only the endpoint whose secrets can be read is sent to');
select is(a -> 'error', 'null', 'which is no error') from answer;
select results_eq('select status, version from outbox.endpoint join made on lost = id', $$values ('paused', 3)$$, 'the other one is paused, in a new version');
select is((select status_reason from outbox.endpoint join made on lost = id),
  'unreadable: the signing secret cannot be read from Vault (OH004 the signing secret is missing in Vault): outbox.rotate_secret() creates a new one', 'with the reason and the remedy');
select is(news('outhook.endpoint.held'), 1, 'and the event of it');
select results_eq('select leased_until, failed_attempts from outbox.delivery join made on lost = endpoint_id', 'values (null::timestamptz, 0), (null, 0)', 'its deliveries are given back');
select is_empty('select from outbox.endpoint_refusal', 'it is not refused as well');

-- Both are to be set again.
do $$ begin perform outbox.rotate_secret(lost) from made; end $$;
select is((select status from outbox.endpoint join made on lost = id), 'paused', 'with a new secret alone it stays held');
select is(news('outhook.endpoint.released'), 0, 'and nothing is said');
do $$ begin perform outbox.set_headers(lost, '{"x-api-key": "new"}') from made; end $$;
select results_eq('select status, status_reason from outbox.endpoint join made on lost = id', $$values ('enabled', null::text)$$, 'with the headers too it is served');
select is(news('outhook.endpoint.released'), 1, 'and the event of it is there');

-- What a person has paused stays paused, with that reason.
select is(outbox.hold_unreadable(paused, 'unreadable: x', outbox.clock()), false, 'what is paused is not held') from made;
select is((select status_reason from outbox.endpoint join made on paused = id), 'by hand', 'and keeps its reason');
do $$ begin perform outbox.rotate_secret(paused) from made; end $$;
select is((select status from outbox.endpoint join made on paused = id), 'paused', 'a new secret does not resume it');

-- A replaced secret that is lost ends early and holds nobody; one that can be read still signs, though an endpoint
-- beside it is held.
create temporary table rotated as select endpoint('{rotated}') as lost, endpoint('{rotated}') as kept, endpoint('{rotated}') as held;
create temporary table older as select secret_of(lost) as id from rotated;
do $$ begin perform outbox.rotate_secret(lost), outbox.rotate_secret(kept) from rotated; end $$;
select lose(id) from older;
select lose(secret_of(held)) from rotated;
do $$ begin perform events(1, 'rotated'); end $$;
update answer set a = step() where true;
select results_eq('select claimed(a, lost), claimed(a, kept), claimed(a, held) from answer, rotated', 'values (1, 1, 0)', 'a replaced secret that is lost holds nobody');
select is(jsonb_array_length(a -> 'endpoints' -> lost::text -> 'secrets'), 1, 'the new one signs alone') from answer, rotated;
select is((select count(*)::integer from outbox.endpoint_secret join rotated on lost = endpoint_id where expires_at <= outbox.clock()), 1, 'the lost one has ended');
select is(jsonb_array_length(a -> 'endpoints' -> kept::text -> 'secrets'), 2, 'where the old one can be read both sign') from answer, rotated;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
