-- head_at of a lane: a claim takes it from the rows that it has read, unless some are leased already.
begin;
\ir ../../_helpers.sql
select plan(10);

create function head() returns timestamptz language sql as $$ select l.head_at from outbox.lane l $$;
create function first_due() returns timestamptz language sql as $$ select min(d.due_at) from outbox.delivery d $$;

select endpoint('{test.event}', p_quantum => 2);
create temporary table given as select events(1) as ids;
create temporary table first as select step(2) as a;
select is(head(), first_due(), 'a claim sets the head to the first row that it takes');
select time_passes('1 s');
create temporary table more as select events(3) as ids;
create temporary table second as select step(2) as a;
select is(claimed_events(a), ids[1:2], 'the next claim takes the rows behind it') from second, more;
select is(head(), first_due(), 'and leaves the head at the row that is still leased');
select time_passes('19 s');
do $$ begin perform step(1), time_passes('1 s'); end $$;
select is(claimed_events(step(3)) @> ids, true, 'so a row whose lease ends without a result is found again') from given;

-- Rows of later are looked for only if the lane has rows that were not taken.
create temporary table other as select endpoint('{later}') as id;
create function lane_due() returns timestamptz language sql as $$
  select l.next_at from outbox.lane l join outbox.gate g on g.id = l.gate_id join other o on o.id = g.endpoint_id
$$;
create temporary table later as select outbox.publish('later', '{}', p_deliver_at => outbox.clock() + interval '5 s') as id;
do $$ begin perform events(1, 'later'), step(); end $$;
select is(lane_due(), outbox.clock() + interval '5 s', 'a lane that gave its last due row is due for the one of later, before its lease ends');
select time_passes('5 s');
select is(claimed_events(step(), o.id), array[l.id], 'which is claimed then') from later l, other o;
select is(lane_due(), outbox.clock() + interval '15 s', 'and a lane that gave all of its rows is due when its first lease ends');

-- A row that the database lets nobody change stays the head of its lane.
create temporary table third as select endpoint('{bad}') as id;
create temporary table bad as select (events(1, 'bad'))[1] as id;
create function refuse() returns trigger language plpgsql as $$
begin
  if new.event_id = (select b.id from bad b) then
    raise exception 'no change';
  end if;
  return new;
end
$$;
create trigger refuse before update on outbox.delivery for each row execute function refuse();
do $$ begin perform step(0), time_passes('1 s'); end $$;
create temporary table good as select (events(1, 'bad'))[1] as id;
select is(claimed_events(step(), t.id), array[g.id], 'a row that cannot be leased does not hold up the one behind it') from third t, good g;
drop trigger refuse on outbox.delivery;
do $$ begin perform time_passes('10 min'), step(); end $$;
select is((select d.leased_until > outbox.clock() from outbox.delivery d, bad b where d.event_id = b.id), true,
  'and is claimed when the database lets it');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
