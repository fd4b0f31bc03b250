-- What begins a move, what prevents it, and what its steps refuse.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
set local search_path = helper, extensions;
select plan(20);

create temporary table e as select endpoint(p_org_id => 'org-1') as a, endpoint(p_org_id => 'org-1') as b;
select outbox.disable_endpoint(b, 'gone') from e;
create temporary table m as select gen_random_uuid() as id;

select is(refusal(format('select outbox.begin_leaving(%L, %L, %L)', 'org-1', id, w.name)), 'OH001 other is not 1 to 100 visible ASCII characters', w.name)
from m, (values (''), ('a b'), (repeat('x', 101))) w (name);
select is(refusal(format('select outbox.begin_leaving(%L, %L, %L)', 'org-1', id, repeat('x', 100))), 'accepted', 'a name of 100 characters') from m;
select is((select string_agg(status || ' ' || status_reason, ', ' order by status) from outbox.endpoint), 'disabled gone, paused the organisation moves to ' || repeat('x', 100), 'what is enabled is paused, with the reason');
select is((select endpoints from outbox.org_move), jsonb_build_object(a, '{"status": "enabled", "reason": null}'::jsonb), 'and noted') from e;
select is(refusal(format('select outbox.begin_leaving(%L, %L, %L)', 'org-1', id, 'two')), 'accepted', 'the same move begins once') from m;
select is(refusal(format('select outbox.begin_leaving(%L, %L, %L)', 'org-1', gen_random_uuid(), 'two')), 'OH004 organisation org-1 cannot move: another move of it is copying', 'and no other beside it');
select is(refusal(format('select outbox.begin_receiving(%L, %L, %L)', 'org-1', gen_random_uuid(), 'two')), 'OH004 another move of organisation org-1 is copying', 'nor to this database');
select is(refusal(w.call), 'OH004 the move of organisation org-1 is copying', w.call)
from (values
  ($$select outbox.open_target('org-1', gen_random_uuid())$$),
  ($$select outbox.leave_source('org-1', '{}')$$),
  ($$select outbox.end_moved_events('org-1', '[]')$$),
  ($$select outbox.finish_source('org-1')$$),
  ($$select outbox.write_move_page('org-1', 'event', '', null, '[]')$$)
) w (call);
select is(refusal($$select outbox.settle_move('org-2')$$), 'OH004 the move of organisation org-2 is not begun', 'a step without a move');
select is(refusal($$select outbox.read_move_page('org-1', 'attempt')$$), 'OH001 part is ''attempt''', 'a part that does not move');

select outbox.undo_leaving('org-1');
select is((select string_agg(status || ' ' || coalesce(status_reason, '-'), ', ' order by status) from outbox.endpoint), 'disabled gone, enabled -', 'undone, all have their status again');
select is_empty('select from outbox.org_move', 'and the move is forgotten');
select is((select string_agg(x.action || ' ' || left(x.details, 25), ', ' order by x.id) from outbox.audit_event x where (x.org_id, x.entity_type, x.entity_id) = ('org-1', 'ORGANISATION', 'org-1')),
  'MOVE_BEGUN The organisation moves to, MOVE_UNDONE The organisation moves to', 'but not by the audit trail, which has each step once');

select outbox.publish('a', '1', 'org-1', p_idempotency_key => 'k');
select is(refusal(format('select outbox.begin_receiving(%L, %L, %L)', 'org-1', id, 'two')), 'OH004 the target has something of organisation org-1 already: endpoint', 'a target with something is refused') from m;

select * from finish();
rollback;
