-- Each list: a page with room for all rows is the last one; a page with room for one row less leads to the last
-- row. A page has at most 100 rows.
begin;
\ir ../_helpers.sql
\ir ../_engine.sql
\ir ../_messages.sql
set local search_path = helper, extensions;

-- Three of everything.
create temporary table own as select outbox.create_endpoint('https://example.com/1', p_org_id => 'o', p_retry => plain_retry()) ->> 'id' as endpoint, channel('o') as channel, template(p_org_id => 'o') as template;
select outbox.pause_endpoint(channel) from own;
select outbox.create_endpoint('https://example.com/2', '{}', 'o');
select outbox.put_event_type('o', 'type.n' || n) from generate_series(1, 3) n;
select outbox.change_opt_out('o', '+1202555013' || n, 'ALL', true, 'phone') from generate_series(1, 3) n;
select outbox.grant_consent('o', 'dossier', '{UTILITY}', 'form ' || n) from generate_series(1, 3) n;
select outbox.create_message('o', '+1202555012' || n, '{"parameters": ["Anna"]}', template, 'dossier', 'm' || n) from own, generate_series(1, 3) n;
select outbox.add_activity(m, 'MESSAGE_SENT', '{}', outbox.clock()) from outbox.outbound_message m;
-- The first event has three attempts and a closing row, and all three events are dead letters.
create temporary table first as select outbox.publish('thing.done', '{"n": 1}', 'o') as event;
do $$ begin perform fail(500); perform time_passes('1 s'); perform fail(500); perform time_passes('5 s'); perform fail(404); end $$;
select outbox.publish('thing.done', jsonb_build_object('n', n), 'o') from generate_series(2, 3) n;
select fail(404);
select outbox.replay_many('o') from generate_series(1, 3);
-- A list of events or deliveries looks one row further, whatever that is: these are of an organisation with nothing else.
select endpoint(p_org_id => 'p'), events(3, p_org_id => 'p');
select step(0);

create temporary table list (name text, call text, n integer);
insert into list values
  ('list_event_types()', $$outbox.list_event_types('o', p_cursor => %L, p_limit => %s)$$, 3),
  ('list_event_type_changes()', $$outbox.list_event_type_changes('o', p_cursor => %L, p_limit => %s)$$, 3),
  ('list_events()', $$outbox.list_events('p', p_cursor => %L, p_limit => %s)$$, 3),
  ('list_opt_outs()', $$outbox.list_opt_outs('o', p_cursor => %L, p_limit => %s)$$, 3),
  ('list_messages()', $$outbox.list_messages('o', p_cursor => %L, p_limit => %s)$$, 3),
  ('list_replay_jobs()', $$outbox.list_replay_jobs('o', p_cursor => %L, p_limit => %s)$$, 3),
  ('list_org_endpoints()', $$outbox.list_org_endpoints('o', p_cursor => %L, p_limit => %s)$$, 3),
  ('list_audit_events()', $$outbox.list_audit_events('o', p_cursor => %L, p_limit => %s, p_entity_type => 'OUTBOUND_MESSAGE')$$, 3),
  ('list_activity()', $$outbox.list_activity('o', 'dossier', p_cursor => %L, p_limit => %s)$$, 3),
  ('list_deliveries()', $$outbox.list_deliveries('p', p_cursor => %L, p_limit => %s)$$, 3),
  ('list_org_attempts()', $$outbox.list_org_attempts('o', p_cursor => %L, p_limit => %s)$$, 5),
  ('list_dead_letters()', $$outbox.list_dead_letters('o', p_cursor => %L, p_limit => %s)$$, 3),
  ('list_all_dead_letters()', $$outbox.list_all_dead_letters(p_cursor => %L, p_limit => %s)$$, 3),
  ('list_attempts()', $$outbox.list_attempts('o', (select event from first), (select endpoint::uuid from own), p_cursor => %L, p_limit => %s)$$, 4);

create function page(p_call text, p_cursor text, p_limit integer) returns jsonb language plpgsql as $$
declare
  v_answer jsonb;
begin
  execute format('select ' || p_call, p_cursor, p_limit) into v_answer;
  return v_answer;
end
$$;
-- How many rows a page has, and whether there is another.
create function shape(p_page jsonb) returns text language sql as $$
  select format('%s rows, %s', jsonb_array_length(p_page -> 'data'), case when p_page ->> 'nextCursor' is null then 'the last page' else 'and more' end)
$$;

select plan((6 * (select count(*) from list))::integer);
select is(shape(page(call, null, n)), n || ' rows, the last page', name || ': a page of as many rows as there are is the last') from list;
select is(shape(page(call, null, n + 1)), n || ' rows, the last page', name || ': and so is a larger one') from list;
select is(shape(page(call, null, n - 1)), n - 1 || ' rows, and more', name || ': a page of one row fewer leads on') from list;
select is(page(call, page(call, null, n - 1) ->> 'nextCursor', n - 1) -> 'data', jsonb_build_array(page(call, null, n) -> 'data' -> -1), name || ': to the last row alone') from list;
select is(refusal(format('select ' || call, null, 100)), 'accepted', name || ': takes 100 rows a page') from list;
select is(refusal(format('select ' || call, null, 101)), 'OH001 limit is 101', name || ': and no more') from list;

select * from finish();
rollback;
