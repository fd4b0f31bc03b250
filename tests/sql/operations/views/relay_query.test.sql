-- Spec 4's query for the next 100 looks up the attempts and the endpoints of those 100 only, however many are open.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_usage.sql
select plan(7);

do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
select endpoint(p_max_in_flight => 1000, p_quantum => 1000);
do $$ begin for n in 1 .. 4 loop perform helper.events(250); end loop; perform helper.step(0); end $$;
do $$ begin for n in 1 .. 2 loop perform helper.fail(503, '{"error": "not now"}'), helper.send('failed', '{"status": 503}', 1000), helper.time_passes('10 s'); end loop; end $$;
select is((select count(*) from outbox.delivery), 1000::bigint, 'a thousand are open');
select cmp_ok((select count(*) from outbox.attempt), '>=', 1000::bigint, 'and have failed');

create function read_of(p_relation text) returns bigint language sql as $$ select coalesce(sum(c.rows), 0)::bigint from counters() c where c.relation = p_relation $$;
create temporary table was (statistics text, attempts bigint, shown bigint, errors bigint);
create function ask(p_statistics text) returns void language plpgsql as $$
declare
  v_attempts bigint := read_of('attempt');
  v_shown bigint;
  v_errors bigint;
begin
  select count(*), count(q.last_error) into v_shown, v_errors from (
    select * from outbox.transaction_outbox
    where status in ('pending', 'failed')
    and (next_retry_at is null or next_retry_at <= outbox.clock() + interval '1 h')
    order by id
    limit 100
    for update skip locked
  ) q;
  insert into was values (p_statistics, read_of('attempt') - v_attempts, v_shown, v_errors);
end
$$;
do $$ begin perform ask('stale'); end $$;
analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.attempt, outbox.unrouted, outbox.dead_letter;
do $$ begin perform ask('fresh'); end $$;
select is(shown, 100::bigint, format('with %s statistics it returns 100', statistics)) from was;
select is(errors, 100::bigint, format('with %s statistics each with its error', statistics)) from was;
-- Two attempts of each at most, for its last error and its last attempt.
select cmp_ok(max(attempts), '<=', 400::bigint, 'it reads the attempts of 100 deliveries') from was;

select * from finish();
rollback;
