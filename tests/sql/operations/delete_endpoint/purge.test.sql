-- The rows of a deleted endpoint go in batches, one a tick, each with its attempt; then its secrets leave
-- Vault, and only its name stays.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(25);

create temporary table made as select endpoint() as id, endpoint('{other.event}') as other;
select outbox.add_secret(id, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', outbox.clock()) from made;
select outbox.subscribe(id, '{order.*,order.paid}') from made;
select count(events(500)) from generate_series(1, 5);
select events(1, 'other.event');
select step(0), step(0), step(0), step(0);
select is((gate_of(id)).depth, 2501::bigint, '2,501 deliveries are open') from made;
select outbox.delete_endpoint(id) from made;
select is((select count(*) from vault.secrets v join outbox.endpoint_secret s on s.vault_id = v.id join made m on m.id = s.endpoint_id), 2::bigint, 'its secrets are still there');

create function ticked() returns bigint language plpgsql as $$
begin
  perform outbox.tick();
  return (select open from outbox.endpoint_status s join made m on m.id = s.id);
end
$$;
select is(ticked(), 1501::bigint, 'a tick cancels a thousand');
select is((select count(*) from outbox.attempt join made on id = endpoint_id where kind = 'close' and outcome = 'cancelled' and error = 'the endpoint was deleted'),
  1000::bigint, 'each with its closing row');
select is((select count(*) from outbox.delivery_status join made on id = endpoint_id where status = 'cancelled'), 2501::bigint, 'delivery_status says the same of those that are gone and those to go');
select is_empty('select * from miscounts()', 'the counters are right in between');
select is(ticked(), 501::bigint, 'the next another thousand');
select is(ticked(), 0::bigint, 'the third the rest');
select is((select count(*) from outbox.attempt join made on id = endpoint_id where kind = 'close'), 2501::bigint, 'each delivery has one closing row');
select is((select count(distinct event_id) from outbox.attempt join made on id = endpoint_id), 2501::bigint, 'of its own');
select outbox.tick();
select is((select count(*) from outbox.gate join made on made.id = endpoint_id), 0::bigint, 'then its gate goes');
select is((select count(*) from outbox.lane), 1::bigint, 'and its lane');
select is((select count(*) from outbox.endpoint_secret join made on made.id = endpoint_id), 0::bigint, 'and the secrets');
select is((select count(*) from vault.secrets where name like 'outhook_endpoint%'), 1::bigint, 'which leave Vault, the other endpoint''s apart');
select is((select count(*) from outbox.subscription join made on made.id = endpoint_id), 0::bigint, 'and the subscriptions');
select is((select status from outbox.endpoint join made using (id)), 'deleted', 'its own row stays, for what history names');
select results_eq('select status, open, in_flight from outbox.endpoint_status s join made m on m.id = s.id', $$values ('deleted', 0::bigint, 0)$$, 'endpoint_status has it still');
select is((select count(*) from outbox.delivery_status join made on id = endpoint_id where status = 'cancelled'), 2501::bigint, 'and delivery_status has its history');
select is(outbox.purge_deleted(1000), 0, 'there is nothing left to do');
select is(claimed(step(), other), 1, 'the other endpoint has what is its own') from made;
select is_empty('select * from miscounts()', 'the counters are right');
select is((select count(*) from outbox.dead_letter), 0::bigint, 'nothing became a dead letter');

-- Its own series of attempts, of which some are not added up yet.
select outbox.set_setting('metrics.per_endpoint', 'true');
create function series(p_endpoint_id uuid) returns bigint language sql as $$
  select sum((c -> 2)::bigint)::bigint from jsonb_array_elements(outbox.counters()) c where c ->> 0 = 'endpoint_attempts' and c -> 1 ->> 0 = p_endpoint_id::text
$$;
create temporary table counted as select endpoint('{counted}') as id, endpoint('{stays}') as stays;
select events(1, 'counted'), events(1, 'stays');
select send();
select outbox.fold_counters();
select events(1, 'counted');
select send();
select is(series(id) || ' ' || series(stays), '2 1', 'the attempts of each endpoint are counted') from counted;
select outbox.delete_endpoint(id) from counted;
do $$ begin perform outbox.tick(), outbox.tick(), outbox.tick(); end $$;
do $$ begin perform outbox.fold_counters(); end $$;
select is((select count(*) from outbox.gate g join counted c on g.endpoint_id = c.id), 0::bigint, 'when it is gone');
select is(coalesce(series(id), 0) || ' ' || series(stays), '0 1', 'so is its series, and no other') from counted;

select * from finish();
rollback;
