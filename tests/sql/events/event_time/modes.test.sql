-- event_time() in each of its modes. All times are in us after the end of a slot, and a slot has 4,096 us.
begin;
\ir ../../_helpers.sql
select plan(30);

create function base() returns bigint language sql immutable as $$
  select (extract(epoch from timestamptz '2026-03-01 12:00:00+00') * 1000000)::bigint / 4096 * 4096
$$;

create function kept() returns bigint language sql volatile as $$
  select pg_sequence_last_value('helper.event_clock') - helper.base()
$$;

create function keep(p_us bigint) returns void language sql as $$
  select setval('helper.event_clock', helper.base() + p_us)
$$;

-- What a call at this clock returns.
create function given(p_us bigint, p_count integer default 1) returns bigint language plpgsql as $$
begin
  perform helper.time_is('epoch'::timestamptz + (helper.base() + p_us) * interval '1 us');
  return (extract(epoch from outbox.event_time(p_count)) * 1000000)::bigint - helper.base();
end
$$;

select is(given(100), 100::bigint, 'the first event has the time of the clock');
select is(kept(), 4096::bigint, 'and the end of its slot is kept');
select is(given(4095), 4095::bigint, 'the last microsecond of the slot');
select is(kept(), 4096::bigint, 'changes nothing');
select is(given(4096), 4096::bigint, 'the first one after it');
select is(kept(), 8192::bigint, 'begins the next slot');
select is(given(0), 0::bigint, 'a clock that goes back into the slot before is not noticed');
select is(kept(), 8192::bigint, 'so nothing changes');

select is(given(-1), 8193::bigint, 'of a clock that goes back further, the event has the next time that is kept');
select is(kept(), 8193::bigint, 'which is the latest one');
select is(given(-1), 8194::bigint, 'each event is a microsecond later');
select is(given(8193), 8195::bigint, 'also while the clock is at a time that was given');
select is(given(8195), 8196::bigint, 'or at the latest one');
select is(given(8197), 8197::bigint, 'a clock past it is the time again');
select is(kept(), 12288::bigint, 'with the end of its slot');

select is(given(8197, 4091), 8197::bigint, 'many events within a slot begin at the clock');
select is(kept(), 12288::bigint, 'and change nothing');
select is(given(8197, 4092), 8197::bigint, 'so do those that need the next slot');
select is(kept(), 16384::bigint, 'which is kept');
select is(given(8191, 3), 16385::bigint, 'if the clock was set back, many events begin at the next time');
select is(kept(), 16387::bigint, 'and the last of them is kept');
select is(given(8191, 0), 16388::bigint, 'no event is as one');

do $$ begin perform helper.keep(20479); end $$;
select is(given(0), 20480::bigint, 'the time may be the end of a slot');
select is(kept(), 20481::bigint, 'but what is kept is not, or it would mean that the clock was not set back');
select is(given(12300), 20482::bigint, 'so a clock within that slot is not taken');

do $$ begin perform helper.keep(60000000); end $$;
select is(given(0), 60000001::bigint, 'a clock that is a minute behind was set back');
select is(given(0), 0::bigint, 'of one that is further behind the time before was wrong');
select is(kept(), 4096::bigint, 'so it begins again there');

do $$ begin perform helper.keep(1); end $$;
select is(given(86400000000), 86400000000::bigint, 'a day later the clock is the time');
select is(kept() % 4096, 0::bigint, 'with the end of its slot');

select * from finish();
rollback;
