-- An index on the parent only is built on each partition that nobody writes to, and attached.
begin;
\ir ../../_helpers.sql
select plan(24);

create function missing() returns bigint language sql as $$ select count(*) from outbox.missing_indexes(outbox.clock()) $$;
create function parts() returns bigint language sql as $$ select count(*) from pg_inherits where inhparent = 'outbox.attempt'::regclass $$;
create function is_valid() returns boolean language sql as $$ select indisvalid from pg_index where indexrelid = to_regclass('outbox.attempt_failures') $$;
-- The partition of the day that is so many days away.
create function day(p_days integer) returns regclass language sql as $$
  select p.part from outbox.partitions('attempt') p
  where p.since <= outbox.clock() + p_days * interval '1 d' and p.until > outbox.clock() + p_days * interval '1 d'
$$;
create function has_index(p_part regclass) returns boolean language sql as $$
  select exists (select from pg_inherits a join pg_index o on o.indexrelid = a.inhrelid
    where a.inhparent = to_regclass('outbox.attempt_failures') and o.indrelid = p_part)
$$;
create function clean_up() returns void language plpgsql as $$ begin while outbox.cleanup_next() loop end loop; end $$;

-- At noon, so that yesterday has ended long ago.
select time_passes(date_trunc('day', outbox.clock() at time zone 'UTC') at time zone 'UTC' + interval '36 h' - outbox.clock());
do $$ begin perform outbox.add_partitions(); end $$;
select is(missing(), 0::bigint, 'no index is missing at first');
select is(outbox.build_index(outbox.clock(), 1), 0, 'so nothing is built');

create index attempt_failures on only outbox.attempt (error_class, at desc) where outcome = 'failed';
select is(is_valid(), false, 'the index of the parent alone is not valid');
select is(missing(), parts() - 1, 'all partitions lack it, and that of today is left out');
select is((select bool_or(m.part = day(0)) from outbox.missing_indexes(outbox.clock()) m), false, 'because it is written');
select is((select m.part from outbox.missing_indexes(outbox.clock()) m limit 1), (select p.part from outbox.partitions('attempt') p order by p.since desc limit 1), 'the latest comes first');

select is(outbox.build_index(outbox.clock(), 1), 1, 'one partition at a time');
select is(missing(), parts() - 2, 'its index is attached');

select lives_ok('select clean_up()', 'the cleanup runs');
select is(has_index(day(1)), true, 'and builds those of the days to come');

select time_passes('1 d');
select is(has_index(day(-1)), false, 'the day that was written yesterday lacks it');
do $$ begin execute format('create index by_hand on %s (error_class, at desc) where outcome = ''failed''', day(-1)); end $$;
do $$ begin perform clean_up(); end $$;
select is(has_index(day(-1)), true, 'a day later it has it');
select is((select count(*) from pg_inherits a where a.inhrelid = 'outbox.by_hand'::regclass), 1::bigint, 'the equal one that a person has created was attached');
select is(missing(), 0::bigint, 'no other partition lacks it');
select is(is_valid(), true, 'and the index of the parent is valid');
select is((select count(*) from pg_indexes where schemaname = 'outbox' and indexname like 'attempt\_default%error\_class%' and indexdef like '%WHERE (outcome = ''failed''::text)%'),
  1::bigint, 'with the same columns and the same condition');

-- One partition cannot be built, because a row refuses it.
create index event_failing on only outbox.event ((1 / (octet_length(body) - 2)));
insert into outbox.event (id, org_id, type, body, created_at) values (outbox.uuid_v7(outbox.clock() - interval '2 d'), 'default', 'a', '{}', outbox.clock());
create function event_day(p_days integer) returns regclass language sql as $$
  select p.part from outbox.partitions('event') p
  where p.since <= outbox.clock() + p_days * interval '1 d' and p.until > outbox.clock() + p_days * interval '1 d'
$$;
create function lacks(p_part regclass) returns boolean language sql as $$ select exists (select from outbox.missing_indexes(outbox.clock()) m where m.part = p_part) $$;
select time_passes('1 d');
do $$ begin perform clean_up(); end $$;
select results_eq('select task, sqlstate, failures from outbox.upkeep_refusal', $$values ('outbox.build_one_index', '22012', 1)$$, 'what cannot be built is recorded');
select matches((select problems::text from outbox.queue_health), 'outbox.build_one_index\(\)', 'and told by the health of the queue');
select is((select count(*) from outbox.missing_indexes(outbox.clock()) m), 1::bigint, 'all others are built');
select is((select string_agg(error, ', ') from outbox.cleanup_progress where name = 'built_indexes'), null, 'and the step has not failed');
select is(outbox.build_index(outbox.clock() + interval '1 h', 1), 0, 'it is not tried again within 20 hours');
truncate outbox.event_default;
do $$ begin while outbox.build_index(outbox.clock() + interval '21 h', 1) > 0 loop end loop; end $$;
select is((select count(*) from outbox.missing_indexes(outbox.clock() + interval '21 h') m), 0::bigint, 'but then it is built');
select is((select count(*) from outbox.upkeep_refusal), 0::bigint, 'and its refusal goes');

-- Without a partition of today the default partition is written.
select is(outbox.is_closed_part('attempt', 'outbox.attempt_default', outbox.clock() + interval '1 year'), false, 'the default partition is left out while it is written');

select * from finish();
rollback;
