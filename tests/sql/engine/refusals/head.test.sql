-- Deliveries that cannot be leased, at the head of an unordered lane, hide no good ones behind them.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(13);

create table bad (event_id uuid);
create function refuse() returns trigger language plpgsql as $$
begin
  if new.leased_until is not null and exists (select from helper.bad b where b.event_id = new.event_id) then
    raise exception 'no lease';
  end if;
  return new;
end
$$;
create trigger refuse before update on outbox.delivery for each row execute function refuse();
create temporary table made as select endpoint('{a}') as a, endpoint('{b}') as b, endpoint('{c}') as c;
create temporary table answer as select '{}'::jsonb as a;
create function call() returns integer language plpgsql as $$
begin
  update answer set a = step() where true;
  perform step(0, results(a, 'delivered', '{"status": 200}')) from answer;
  return claimed(a) from answer;
end
$$;
create function refused(p_endpoint uuid) returns integer language sql as $$
  select count(*)::integer from outbox.refusal r where r.endpoint_id = p_endpoint
$$;

do $$ begin insert into bad select unnest(events(40, 'a')); perform step(0), time_passes('1 s'), events(5, 'a'); end $$;
select is(call(), 5, 'five good deliveries behind forty refused ones are sent at once');
select is(refused(a), 40, 'each of the forty is refused') from made;
select is_empty('select from outbox.endpoint_refusal', 'and their endpoint is not');

-- More refused ones than one claim tries.
do $$ begin insert into bad select unnest(events(150, 'b') || events(150, 'b')); perform step(0), time_passes('1 s'), events(1, 'b'); end $$;
do $$ begin perform call(); end $$;
select is(refused(b), 256, 'if a newer one can be leased, all that were tried are refused') from made;
select is((select r.failures from outbox.endpoint_refusal r join made on r.endpoint_id = b), 1, 'the endpoint waits for the next try');
do $$ begin perform time_passes('11 s'); end $$;
select is(call(), 1, 'which finds the good one');
select is_empty('select r.* from outbox.endpoint_refusal r join made on r.endpoint_id = b', 'and the endpoint is served again');

do $$ begin for n in 1 .. 8 loop perform time_passes('1 min'), call(); end loop; end $$;
select results_eq(format($$select endpoint_id = %L, failures, count(*)::integer from outbox.refusal group by 1, 2 order by 1$$, b),
  $$values (false, 3, 40), (true, 3, 300)$$, 'what was refused alone is set aside after the third refusal, also if nothing else is due') from made;
select is_empty('select from outbox.endpoint_refusal', 'and is not taken for a fault of the endpoint');

-- All of an endpoint: it is the cause.
do $$ begin insert into bad select unnest(events(12, 'c')); end $$;
do $$ begin perform call(); end $$;
select is(refused(c), 0, 'if none of all can be leased, none is the cause') from made;
select is((select r.failures from outbox.endpoint_refusal r join made on r.endpoint_id = c), 1, 'but their endpoint');
do $$ begin truncate bad; perform time_passes('11 s'), call(), call(), call(); end $$;
select is((select count(*)::integer from outbox.delivery d join made on d.endpoint_id = c), 0, 'once the cause is removed, all are sent');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
