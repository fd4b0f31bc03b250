-- The database refuses one kind of statement about one endpoint, on each table that failures write to: all deliveries
-- of the other endpoints end. tests/concurrency/every_error.test.ts does the same for a worker whose sends succeed.
begin;
\ir ../../_helpers.sql
select plan(21);

create function refuse() returns trigger language plpgsql as $$
declare
  v_row jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
begin
  if v_row::text like '%' || current_setting('helper.bad') || '%' or v_row ->> 'gate_id' = current_setting('helper.gate') then
    assert current_setting('helper.how') <> 'assert', 'no row of this endpoint';
    raise exception 'no row of this endpoint';
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$$;

-- Sends four events to the refused endpoint and to two others, one of them ordered, and reports failures, the last try
-- included; returns what is left open of the others. Rolls everything back.
create function left_open(p_table text, p_operation text, p_how text default 'raise') returns text language plpgsql as $$
declare
  v_run constant uuid := gen_random_uuid();
  v_bad uuid := helper.endpoint(p_retry => helper.plain_retry(0), p_breaker => true);
  v_good uuid := helper.endpoint(p_retry => helper.plain_retry(0), p_breaker => true);
  v_ordered uuid := helper.endpoint(p_retry => helper.plain_retry(0), p_ordering => 'partition');
  v_results jsonb := '[]';
begin
  update outbox.endpoint e set breaker_threshold = 2 where e.id in (v_bad, v_good);
  perform set_config('helper.bad', v_bad::text, true), set_config('helper.how', p_how, true),
    set_config('helper.gate', (select g.id::text from outbox.gate g where g.endpoint_id = v_bad), true);
  execute format('create trigger refuse before %s on outbox.%I for each row execute function helper.refuse()', p_operation, p_table);
  perform helper.events(4, p_key => 'k');
  for v_call in 1 .. 12 loop
    v_results := (
      select coalesce(jsonb_agg(jsonb_build_object('event', d -> 'event', 'endpoint', d -> 'endpoint', 'attempt', d -> 'attempt')
        || case
          when n % 2 = 1 or (d ->> 'endpoint')::uuid = v_ordered then '{"outcome": "delivered", "status": 200}'
          when n % 4 = 0 and (d ->> 'endpoint')::uuid = v_bad then '{"outcome": "failed", "status": 410, "error_class": "status"}'
          else '{"outcome": "failed", "status": 500, "error_class": "status"}'
        end::jsonb), '[]')
      from jsonb_array_elements(outbox.dispatch(v_run, v_call, v_results, 50, 'worker')::jsonb -> 'deliveries') with ordinality x (d, n));
    perform helper.time_passes('40 s'), outbox.tick();
  end loop;
  raise exception using errcode = 'OHEND', message = (
    select format('%s deliveries, %s events', (select count(*) from outbox.delivery d where d.endpoint_id <> v_bad),
      (select count(*) from outbox.unrouted)));
exception when sqlstate 'OHEND' then
  return sqlerrm;
end
$$;
select is(left_open(t, o), '0 deliveries, 0 events', format('%s of %s', o, t)) from (values
  ('dead_letter', 'insert'), ('event', 'insert'), ('endpoint', 'update'), ('refusal', 'insert'), ('refusal', 'update'),
  ('endpoint_refusal', 'insert'), ('lane', 'insert'), ('lane', 'update'), ('lane', 'delete'), ('lane_refusal', 'insert'), ('isolation', 'insert'), ('run_batch', 'delete'),
  ('upkeep_refusal', 'insert')) v (t, o);

-- OTHERS of plpgsql does not catch a failed assertion.
select is(left_open(t, o, 'assert'), '0 deliveries, 0 events', format('%s of %s, by an assertion', o, t)) from (values
  ('attempt', 'insert'), ('dead_letter', 'insert'), ('delivery', 'insert'), ('delivery', 'update'), ('delivery', 'delete'), ('gate', 'update'),
  ('lane', 'update'), ('endpoint', 'update')) v (t, o);

select * from finish();
rollback;
