-- Claims of dead letters that task dlq:replay has left end, whatever is before them.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(10);

create function broker(p_type text) returns uuid language sql as $$
  select (outbox.create_broker_endpoint('kafka', '{"brokers": ["k.example.com:9093"], "topic": "t", "dlq_topic": null}', null, array[p_type], p_ordering => 'none',
    p_org_id => p_type) ->> 'id')::uuid
$$;
create temporary table made as select broker('gone') as gone, broker('kept') as kept;
-- Claims of that many dead letters, which nobody records.
create function claim_letters(p_type text, p_count integer) returns void language plpgsql as $$
begin
  perform events(p_count, p_type, p_org_id => p_type);
  while send('failed', '{"error_class": "broker", "code": "MESSAGE_TOO_LARGE", "error": "too large"}', 400) > 0 loop end loop;
  perform outbox.claim_broker_replay(x.event_id, x.endpoint_id, 'kafka', 't') from outbox.dead_letter x where x.org_id = p_type;
  perform time_passes('1 s');
end
$$;
create function claimed_of(p_type text) returns bigint language sql as $$
  select count(*) from outbox.dead_letter x where x.org_id = p_type and x.at_broker
$$;
-- The next tick that ends claims.
create function ends() returns void language sql as $$
  select time_is(to_timestamp(ceil((extract(epoch from outbox.clock()) + 1) / 10) * 10)), outbox.end_broker_claims(outbox.clock(), 100)
$$;

do $$ begin perform claim_letters('gone', 100), claim_letters('kept', 3); end $$;
select outbox.delete_endpoint(gone), outbox.purge_deleted(1000) from made;
select is_empty('select from outbox.gate join made on endpoint_id = gone', 'the endpoint of a hundred claimed dead letters is purged');
select time_passes('1 hour');
do $$ begin perform ends(); end $$;
select is(claimed_of('kept'), 0::bigint, 'those of another endpoint are open again');
do $$ begin perform ends(); end $$;
select is(claimed_of('gone'), 0::bigint, 'and then those without an endpoint');
select is((select count(*) from news('outhook.delivery.dead_lettered') n where n ->> 'orgId' = 'kept'), 6::bigint, 'each is announced again');

-- A dead letter that the database does not change keeps none behind it.
create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
do $$ begin perform claim_letters('kept', 3); end $$;
select is(claimed_of('kept'), 6::bigint, 'six are claimed');
do $$ begin execute 'create trigger refuse before update on outbox.dead_letter for each row when (old.at_broker and not new.at_broker) execute function helper.refuse()'; end $$;
do $$ begin perform time_passes('1 hour'), outbox.end_broker_claims(to_timestamp(ceil(extract(epoch from outbox.clock()) / 10) * 10), 2); end $$;
select is((select count(*) from outbox.upkeep_refusal where task = 'outbox.end_broker_claims'), 2::bigint, 'two are refused');
drop trigger refuse on outbox.dead_letter;
do $$ begin perform time_passes('10 s'), outbox.end_broker_claims(to_timestamp(ceil(extract(epoch from outbox.clock()) / 10) * 10), 2); end $$;
select is(claimed_of('kept'), 4::bigint, 'the next call goes on with those behind them');
do $$ begin perform time_passes('1 minute'), outbox.end_broker_claims(to_timestamp(ceil(extract(epoch from outbox.clock()) / 10) * 10), 2); end $$;
select is(claimed_of('kept'), 2::bigint, 'after a minute the refused ones are tried again');
do $$ begin perform ends(); end $$;
select is(claimed_of('kept'), 0::bigint, 'in the end none is claimed');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
