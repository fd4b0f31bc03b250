-- A dead letter is put aside with a reason; nothing replays it unasked, and cleanup removes it in time.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(14);

create temporary table made as select endpoint() as id;
create temporary table event as select (events(1))[1] as id;
select fail(404);
select is(refusal(format('select outbox.discard_dead_letter(%L, %L, %s)', e.id, m.id, r)), 'OH001 reason is empty', format('a reason %s is none', r))
from event e, made m, (values ('null'), (''''''), ('''  ''')) x (r);
select is((select discarded_at from outbox.dead_letter), null, 'and discards nothing');
select is(outbox.discard_dead_letter(e.id, m.id, 'the order was cancelled'), jsonb_build_object('event_id', e.id, 'endpoint_id', m.id, 'discarded', true), 'with a reason it is put aside')
from event e, made m;
select results_eq('select discarded_at, note from outbox.dead_letter', $$values ('2026-03-01 12:00:00+00'::timestamptz, 'the order was cancelled')$$, 'it says when and why');
select is((select dead_letters from outbox.queue_health), 0::bigint, 'it is no longer counted');
select is(status_of(e.id, m.id), 'dead_letter', 'and is a dead letter still') from event e, made m;
select outbox.replay_many();
select outbox.tick(), outbox.tick();
select is((select count(*) from outbox.delivery), 0::bigint, 'no job replays it');
select is(outbox.replay(e.id, m.id) -> 'replaced', 'false', 'a person may still') from event e, made m;
select fail(404);
select is((select discarded_at is null and note is null from outbox.dead_letter), true, 'dead again, it is a new matter');
select is(refusal(format('select outbox.discard_dead_letter(%s, %s, ''why'')', c.event, c.endpoint)), format('OH002 event %s has no dead letter for endpoint %s', c.event, c.endpoint), c.what)
from event e, made m, lateral (values
  ('an unknown event is refused', $$'019ca945-0a00-7000-8000-000000000000'$$, quote_literal(m.id)),
  ('so is another endpoint', quote_literal(e.id), $$'00000000-0000-0000-0000-000000000000'$$),
  ('and none', 'NULL', 'NULL')) c (what, event, endpoint);

select * from finish();
rollback;
