-- The expired deliveries of one organisation hold up those of no other.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(11);

create temporary table made as select endpoint('{a}', p_org_id => 'noisy') as noisy, endpoint('{a}', p_org_id => 'quiet') as quiet;
select events(50, 'a', p_org_id => 'noisy');
select time_passes('1 s');
select events(3, 'a', p_org_id => 'quiet');
select step(0);
select time_passes('31 days');
create function letters_of(p_org_id text) returns bigint language sql as $$
  select count(*) from outbox.dead_letter where org_id = p_org_id
$$;
select is(outbox.expire_deliveries(10), 10, 'a call expires as many as it may');
select is(letters_of('quiet'), 3::bigint, 'all of the later organisation, because it has fewer');
select is(letters_of('noisy'), 7::bigint, 'and the oldest of the other one');
select is(outbox.expire_deliveries(100), 43, 'the next call goes on');
select is_empty('select * from miscounts()', 'the counters are right');

-- A call looks at 5,000 deliveries, and the next one at those after them.
do $$ begin
  for n in 1 .. 6 loop
    perform events(1000, 'a', p_org_id => 'noisy'), time_passes('1 s');
  end loop;
  perform events(2, 'a', p_org_id => 'quiet');
  while outbox.has_unrouted() loop perform step(0); end loop;
  perform time_passes('31 days');
end $$;
create function swept_to() returns uuid language sql as $$ select swept_to from outbox.cleanup_progress where name = 'expired_deliveries' $$;
select is(outbox.expire_deliveries(10) || ' ' || letters_of('quiet'), '10 3', 'the first call comes to the first 5,000 deliveries');
select is(swept_to(), (select d.event_id from outbox.delivery d order by d.event_id offset 4989 limit 1), 'and stores how far that is');
select is(outbox.expire_deliveries(10) || ' ' || letters_of('quiet'), '10 5', 'the second one to those of the other organisation');
select is(swept_to(), null, 'after the last one it begins with the oldest again');
select is(outbox.expire_deliveries(10) || ' ' || letters_of('noisy'), '10 78', 'and goes on');
select is_empty('select * from miscounts()', 'the counters are right in the end');

select * from finish();
rollback;
