-- The bytes of events of a day: off unless set, counted when events are routed, refused in every way of publishing,
-- and never for Outhook's own events.
begin;
\ir ../_helpers.sql
\ir ../_engine.sql
set local search_path = helper, extensions;
select plan(26);

create function big(p_org text, p_bytes integer default 262144) returns text language sql as $$
  select refusal(format('select outbox.publish_raw(''a'', %L, %L)', '"' || repeat('x', p_bytes - 2) || '"', p_org))
$$;
create function bytes(p_org text) returns bigint language sql as $$ select bytes from outbox.event_bytes where org_id = p_org $$;
create function spent(p_org text) returns text language sql as $$
  select format('OH011 organisation %s may publish at most %s MiB of events a day (limit.event_mib_per_day)', p_org, outbox.org_setting_int(p_org, 'limit.event_mib_per_day'))
$$;

select big('org-1');
select step();
select is_empty('select from outbox.event_bytes', 'without a limit nothing is counted');

select outbox.set_org_setting('org-1', 'limit.event_mib_per_day', '1');
select is(big('org-1'), 'accepted', 'quarter ' || n) from generate_series(1, 3) n;
select is(big('org-1', 262143), 'accepted', 'and all but one byte of the fourth');
select step();
select is(bytes('org-1'), 1048575::bigint, 'the payloads are added up when they are routed');
select is(big('org-1', 2), 'accepted', 'the limit is not reached');
select is(big('org-1'), 'accepted', 'what routing has not counted passes');
select step();
select is(bytes('org-1'), 1048575 + 2 + 262144::bigint, 'and is counted then');

create temporary table e as select endpoint(p_org_id => 'org-1') as id;
select is(refusal(w.call), w.place || spent_text, w.name)
from (select substr(spent('org-1'), 7) as spent_text) s cross join (values
  ('publish() is refused', $$select outbox.publish('a', '1', 'org-1')$$, 'OH011 '),
  ('publish_once() is', $$select outbox.publish_once('{"type": "a", "payload": 1, "org_id": "org-1"}')$$, 'OH011 '),
  ('publish_many() is, with the place', $$select outbox.publish_many('[{"type": "a", "payload": 1, "org_id": "org-2"}, {"type": "a", "payload": 1, "org_id": "org-1"}]')$$, 'OH011 events[1]: '),
  ('publish_events() is', $$select outbox.publish_events('org-1', '[{"type": "a", "payload": 1}]')$$, 'OH011 events[0]: ')
) w (name, call, place);
select is_empty($$select from outbox.unrouted u join outbox.event e on e.id = u.event_id$$, 'nothing of it is stored');
select is(refusal(format('select outbox.send_test_event(%L)', id)), 'accepted', 'a test event is not') from e;
select is(refusal($$select outbox.publish_many('[{"type": "a", "payload": 1, "org_id": "org-2"}]')$$), 'accepted', 'another organisation is not affected');
select is((select outbox.set_org_setting('org-1', 'limit.event_mib_per_day', '2') -> 'was'), '1', 'the limit is raised');
select is(big('org-1', 2), 'accepted', 'which applies at once');
select outbox.set_org_setting('org-1', 'limit.event_mib_per_day', '1');
select step();
select is(big('org-1', 2), spent('org-1'), 'and lowered, which applies to what comes next');
select time_is('2026-03-01 23:59:59.999+00');
select is(big('org-1', 2), spent('org-1'), 'to the end of the day in UTC');
select time_is('2026-03-02 00:00:00+00');
select is(big('org-1', 2), 'accepted', 'the next day begins at 0');
select step();
select is(bytes('org-1'), 2::bigint, 'and is counted alone');

-- The clock was a day ahead, and is set back.
select time_is('2026-03-04 12:00:00+00');
select big('org-1') from generate_series(1, 4);
select step();
select is(big('org-1'), spent('org-1'), 'a day ahead the limit is reached');
select time_is('2026-03-03 12:00:00+00');
select is(big('org-1', 2), 'accepted', 'after the clock was set back that day does not count');

-- A limit of all organisations.
select outbox.set_setting('limit.event_mib_per_day', '1');
select big('org-3') from generate_series(1, 4);
select step();
select is(big('org-3'), spent('org-3'), 'the limit of all applies to each');
select outbox.set_org_setting('org-3', 'limit.event_mib_per_day', '0');
select is(big('org-3'), 'accepted', '0 is no limit');

select * from finish();
rollback;
