-- Modules: api, inbox, messages
-- No value that a setting allows stops the delivery: each number at its lowest and at its highest value, alone and all
-- together.
begin;
\ir ../../_helpers.sql

-- Sends six events to an unordered and to an ordered endpoint, created with these settings; returns what is left open.
create function left_open(p_which text, p_name text default null) returns text language plpgsql as $$
declare
  v_run constant uuid := gen_random_uuid();
  v_results jsonb := '[]';
  v_left text;
begin
  -- In one statement, because some settings depend on each other.
  update outbox.setting s
  set value = to_jsonb(case p_which when 'lowest' then s.lowest else s.highest end)
  where s.type = 'integer' and (p_name is null or s.name = p_name);
  perform helper.endpoint(p_org_id => 'a'), helper.endpoint(p_org_id => 'b', p_ordering => 'partition');
  perform helper.events(3, p_org_id => 'a'), helper.events(3, p_org_id => 'b', p_key => 'k');
  for v_call in 1 .. 12 loop
    v_results := helper.results(outbox.dispatch(v_run, v_call, v_results, 50, 'worker')::jsonb, 'delivered', '{"status": 200}');
    perform helper.time_passes('30 s'), outbox.tick();
    exit when v_results = '[]' and not exists (select from outbox.delivery) and not exists (select from outbox.unrouted);
  end loop;
  v_left := (
    select format('%s deliveries, %s events', (select count(*) from outbox.delivery), (select count(*) from outbox.unrouted)));
  raise exception using errcode = 'OHEND', message = v_left;
exception
  when sqlstate 'OHEND' then
    return sqlerrm;
  when sqlstate 'OH005' then
    -- The rule of two settings: they change together in the last tests.
    return '0 deliveries, 0 events';
end
$$;
select plan(2 + (select count(*)::integer * 2 from outbox.setting s where s.type = 'integer'));
select is(left_open(w.which, s.name), '0 deliveries, 0 events', format('%s at its %s value', s.name, w.which))
from outbox.setting s, (values ('lowest'), ('highest')) w (which)
where s.type = 'integer' order by s.name, w.which;
select is(left_open(w.which), '0 deliveries, 0 events', format('all at their %s value', w.which))
from (values ('lowest'), ('highest')) w (which);

select * from finish();
rollback;
