-- Modules: api
-- While an organisation moves, every way of publishing for it is refused in the project that does not have it, and
-- none of its endpoints can be enabled there. Others notice nothing.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
set local search_path = helper, extensions;
select plan(22);

create function status(p_role text, p_status text) returns void language sql as $$
  delete from outbox.org_move where true;
  insert into outbox.org_move (org_id, move_id, role, status, other, started_at, changed_at)
  values ('org-1', gen_random_uuid(), p_role, p_status, 'two', outbox.clock(), outbox.clock());
  select outbox.close_publishing('org-1', outbox.clock())
$$;
create temporary table e as select endpoint(p_org_id => 'org-1') as id;

select status('source', 'copying');
select outbox.open_publishing('org-1', outbox.clock());
select is(refusal($$select outbox.publish('a', '1', 'org-1')$$), 'accepted', 'while it is copied, events are accepted');
select step();

select status('source', 'closed');
select is(refusal(w.call), w.says, w.name)
from (values
  ('publish() is refused', $$select outbox.publish('a', '1', 'org-1')$$, 'OH012 organisation org-1 is moving to two'),
  ('publish_raw() is', $$select outbox.publish_raw('a', '1', 'org-1')$$, 'OH012 organisation org-1 is moving to two'),
  ('publish_once() is', $$select outbox.publish_once('{"type": "a", "payload": 1, "org_id": "org-1"}')$$, 'OH012 organisation org-1 is moving to two'),
  ('publish_many() is, with the place', $$select outbox.publish_many('[{"type": "a", "payload": 1, "org_id": "org-2"}, {"type": "a", "payload": 1, "org_id": "org-1"}]')$$, 'OH012 events[1]: organisation org-1 is moving to two'),
  ('publish_events() is', $$select outbox.publish_events('org-1', '[{"type": "a", "payload": 1}]')$$, 'OH012 events[0]: organisation org-1 is moving to two')
) w (name, call, says);
select is(refusal($$select outbox.publish('a', '1', 'org-2')$$), 'accepted', 'another organisation publishes');
select is(refusal(format('select outbox.resume_endpoint(%L)', id)), 'OH012 organisation org-1 is moving to two, so none of its endpoints can be enabled here', 'an endpoint cannot be resumed') from e;
select is(refusal($$select outbox.create_endpoint('https://example.com', '{a}', 'org-1')$$), 'OH012 organisation org-1 is moving to two, so none of its endpoints can be enabled here', 'and none can be created');
select is(refusal(format('select outbox.pause_endpoint(%L)', id)), 'OH012 organisation org-1 is moving to two, so nothing of it can be changed here', 'nor be changed in another way') from e;

select status('source', 'moved');
select is(refusal($$select outbox.publish('a', '1', 'org-1')$$), 'OH012 organisation org-1 has moved to two', 'after the move the error says so');
select status('source', 'finished');
select is(refusal($$select outbox.publish('a', '1', 'org-1')$$), 'OH012 organisation org-1 has moved to two', 'for ever');
select status('target', 'receiving');
select is(refusal($$select outbox.publish('a', '1', 'org-1')$$), 'OH012 organisation org-1 is still in two', 'the target refuses events until it is live');
select is(refusal(format('select outbox.resume_endpoint(%L)', id)), 'OH012 organisation org-1 is still in two, so none of its endpoints can be enabled here', 'and endpoints') from e;

-- A limit of bytes neither opens publishing, nor is it lost.
select status('source', 'copying');
select outbox.open_publishing('org-1', outbox.clock());
select outbox.set_org_setting('org-1', 'limit.event_mib_per_day', '1');
select outbox.publish('a', '1', 'org-1');
select status('source', 'closed');
select step();
select is((select spent_until from outbox.event_bytes where org_id = 'org-1'), 'infinity', 'routing counts bytes and leaves it closed');
select is(refusal($$select outbox.publish('a', '1', 'org-1')$$), 'OH012 organisation org-1 is moving to two', 'which holds');
delete from outbox.org_move where true;
select outbox.open_publishing('org-1', outbox.clock());
select is(refusal($$select outbox.publish('a', '1', 'org-1')$$), 'accepted', 'after the move it is open');
update outbox.event_bytes set bytes = 1048576 where true;
select outbox.close_publishing('org-1', outbox.clock());
select outbox.open_publishing('org-1', outbox.clock());
select matches(refusal($$select outbox.publish('a', '1', 'org-1')$$), '^OH011 ', 'a day that was used up stays so');
update outbox.event_bytes set bytes = 0, spent_until = '-infinity' where true;
select is(refusal($$select outbox.publish_raw('a', '"' || repeat('x', 200000) || '"', 'org-1')$$), 'accepted', 'quarter ' || n) from generate_series(1, 1) n;
select is(refusal(format('select outbox.resume_endpoint(%L)', id)), 'accepted', 'and endpoints can be resumed') from e;

create function detail() returns text language plpgsql as $$
declare v_detail text;
begin
  perform outbox.refuse_moved('org-1');
  return null;
exception when sqlstate 'OH012' then
  get stacked diagnostics v_detail = pg_exception_detail;
  return v_detail;
end
$$;
select is(detail(), null, 'without a move nothing is refused');
select status('source', 'moved');
select is(detail(), 'two', 'the detail is the name of the other project');

select * from finish();
rollback;
