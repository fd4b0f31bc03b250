-- The life of a delivery as a table: every event that may befall a delivery in every status, and what becomes
-- of it. What the table does not allow is refused, or changes nothing. lost: its lease has ended, and nobody has come
-- to it since. paused to halted: what holds it, which is no status of its own to an application.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(288);

-- A delivery in the given status, with an endpoint of its own.
create temporary table subject (endpoint_id uuid, event_id uuid, claim jsonb);
create function make(p_status text) returns void language plpgsql as $$
declare
  v_type text := 'for.' || replace(p_status, '_', '-');
  v_endpoint uuid := endpoint(case when p_status = 'no_subscriber' then '{}' else array[v_type] end, p_retry => plain_retry(1), p_breaker => p_status = 'breaker',
    p_ordering => case when p_status = 'halted' then 'partition' else 'none' end, p_filter => case when p_status = 'filter_error' then '$.x' end);
  v_ahead uuid;
  v_event uuid;
begin
  delete from subject where true;
  update outbox.endpoint set breaker_threshold = 1, on_dead_letter = 'halt' where id = v_endpoint;
  if p_status = 'expired' then
    perform time_passes('-31 d');
    update outbox.subscription set created_at = outbox.clock() where endpoint_id = v_endpoint;
  end if;
  if p_status in ('breaker', 'halted') then
    -- It waits behind another, which opens the breaker or halts the lane.
    v_ahead := (events(1, v_type))[1];
    perform step(0);
    perform step(0, results_of(step(), v_endpoint, 'failed', jsonb_build_object('status', case p_status when 'breaker' then 500 else 404 end)));
  end if;
  -- jsonb cannot hold NUL, so no filter can be asked of it.
  v_event := case when p_status = 'filter_error' then outbox.publish_raw(v_type, '{"s": "\u0000"}') else (events(1, v_type))[1] end;
  insert into subject values (v_endpoint, v_event, null);
  perform step(0);
  if p_status = 'expired' then
    perform time_passes('31 d'), outbox.expire_deliveries(1000);
  elsif p_status in ('processing', 'lost', 'retrying', 'delivered', 'dead_letter', 'deleted_under_way') then
    update subject set claim = step() where true;
    perform step(0, results_of(claim, v_endpoint, 'delivered', '{"status": 200}')) from subject where p_status = 'delivered';
    perform step(0, results_of(claim, v_endpoint, 'failed', '{"status": 500}')) from subject where p_status = 'retrying';
    perform step(0, results_of(claim, v_endpoint, 'failed', '{"status": 404}')) from subject where p_status = 'dead_letter';
    perform time_passes('20 s') where p_status = 'lost';
    perform outbox.delete_endpoint(v_endpoint) where p_status = 'deleted_under_way';
  elsif p_status = 'cancelled' then
    perform outbox.cancel_delivery(v_event, v_endpoint);
  elsif p_status = 'paused' then
    perform outbox.pause_endpoint(v_endpoint);
  elsif p_status = 'disabled' then
    perform outbox.disable_endpoint(v_endpoint);
  elsif p_status = 'deleted' then
    perform outbox.delete_endpoint(v_endpoint);
  end if;
end
$$;

-- A result with the number of its last attempt: only the holder of a lease may give one.
create function told(p_outcome text, p_status integer) returns jsonb language sql as $$
  select jsonb_build_array(jsonb_build_object('event', s.event_id, 'endpoint', s.endpoint_id, 'outcome', p_outcome, 'status', p_status,
    'attempt', coalesce((select d.attempt from outbox.delivery d where d.event_id = s.event_id and d.endpoint_id = s.endpoint_id), outbox.last_attempt(s.event_id, s.endpoint_id))))
  from subject s
$$;

-- What befalls it.
create function befall(p_action text) returns void language plpgsql as $$
declare
  v subject;
  v_answer jsonb;
begin
  select * into v from subject;
  case p_action
    when 'claim' then perform step();
    when 'a late result' then
      v_answer := step(0, jsonb_build_array(jsonb_build_object('event', v.event_id, 'endpoint', v.endpoint_id, 'attempt', 99, 'outcome', 'delivered')));
      if v_answer -> 'stale' <> '1' then raise exception 'a late result was applied'; end if;
    when 'delivered' then perform step(0, told('delivered', 200));
    when 'fails' then perform step(0, told('failed', 500));
    when 'is refused' then perform step(0, told('failed', 404));
    when 'is given back' then perform step(0, told('released', null));
    when 'retry_now' then perform outbox.retry_now(v.event_id, v.endpoint_id);
    when 'cancel' then perform outbox.cancel_delivery(v.event_id, v.endpoint_id);
    when 'replay' then perform outbox.replay(v.event_id, v.endpoint_id);
    when 'discard' then perform outbox.discard_dead_letter(v.event_id, v.endpoint_id, 'why');
    when 'schedule_retry' then perform outbox.schedule_retry(v.event_id, v.endpoint_id, '1 min');
    when 'a tick' then perform outbox.tick();
    when 'pause' then perform outbox.pause_endpoint(v.endpoint_id);
    when 'disable' then perform outbox.disable_endpoint(v.endpoint_id);
    when 'resume' then perform outbox.resume_endpoint(v.endpoint_id);
    when 'resume_lane' then perform outbox.resume_lane(v.endpoint_id);
    when 'delete' then perform outbox.delete_endpoint(v.endpoint_id);
    when 'expiry' then
      perform time_passes('31 d'), outbox.expire_deliveries(1000);
  end case;
end
$$;

-- The status after it, or the refusal; everything as before again.
create function outcome(p_status text, p_action text) returns text language plpgsql as $$
declare
  v_outcome text;
begin
  begin
    perform make(p_status);
    begin
      perform befall(p_action);
      select s.status into v_outcome from outbox.delivery_status s join subject on s.event_id = subject.event_id and (s.endpoint_id = subject.endpoint_id or s.endpoint_id is null);
      -- Whatever happened, the books are right and there is one end for each life that has ended.
      if exists (select from miscounts()) then v_outcome := v_outcome || ', miscounted'; end if;
      if exists (select from asleep() a, outbox.gate g, outbox.endpoint e where a.what = 'gate' and g.id = a.id and e.id = g.endpoint_id and e.status <> 'deleted') then v_outcome := v_outcome || ', asleep'; end if;
    exception when sqlstate 'OH001' or sqlstate 'OH002' or sqlstate 'OH004' then
      v_outcome := sqlstate;
    end;
    raise exception using errcode = 'OHTST';
  exception when sqlstate 'OHTST' then
    return v_outcome;
  end;
end
$$;

create temporary table rule (action text, pending text, processing text, lost text, retrying text, paused text, disabled text, breaker text, halted text, delivered text, dead_letter text, cancelled text, expired text, filter_error text, no_subscriber text, deleted text, deleted_under_way text);
insert into rule values
  -- action          pending       processing     lost           retrying     paused       disabled     breaker      halted       delivered    dead_letter    cancelled    expired    filter_error    no_subscriber    deleted      deleted_under_way
  ('claim',          'processing', 'processing',  'retrying',    'retrying',  'held',      'held',      'held',      'held',      'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'cancelled', 'cancelled'),
  ('a late result',  'pending',    'processing',  'processing',  'retrying',  'held',      'held',      'held',      'held',      'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'cancelled', 'cancelled'),
  ('delivered',      'pending',    'delivered',   'delivered',   'retrying',  'held',      'held',      'held',      'held',      'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'cancelled', 'delivered'),
  ('fails',          'pending',    'retrying',    'retrying',    'retrying',  'held',      'held',      'held',      'held',      'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'cancelled', 'cancelled'),
  ('is refused',     'pending',    'dead_letter', 'dead_letter', 'retrying',  'held',      'held',      'held',      'held',      'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'cancelled', 'dead_letter'),
  ('is given back',  'pending',    'pending',     'pending',     'retrying',  'held',      'held',      'held',      'held',      'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'cancelled', 'cancelled'),
  ('a tick',         'pending',    'processing',  'processing',  'retrying',  'held',      'held',      'held',      'held',      'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'cancelled', 'cancelled'),
  ('retry_now',      'pending',    'OH004',       'retrying',    'retrying',  'held',      'held',      'held',      'held',      'OH002',     'OH002',       'OH002',     'OH002',   'OH002',        'OH002',         'OH002',     'OH002'),
  ('schedule_retry', 'pending',    'OH004',       'retrying',    'retrying',  'held',      'held',      'held',      'held',      'OH002',     'OH002',       'OH002',     'OH002',   'OH002',        'OH002',         'OH002',     'OH002'),
  ('cancel',         'cancelled',  'OH004',       'cancelled',   'cancelled', 'cancelled', 'cancelled', 'cancelled', 'cancelled', 'OH002',     'OH002',       'OH002',     'OH002',   'OH002',        'OH002',         'OH002',     'OH002'),
  ('replay',         'pending',    'OH004',       'pending',     'pending',   'held',      'held',      'held',      'held',      'pending',   'pending',     'pending',   'pending', 'pending',      'OH002',         'OH002',     'OH002'),
  ('discard',        'OH002',      'OH002',       'OH002',       'OH002',     'OH002',     'OH002',     'OH002',     'OH002',     'OH002',     'dead_letter', 'OH002',     'expired', 'OH002',        'OH002',         'OH002',     'OH002'),
  ('pause',          'held',       'processing',  'processing',  'held',      'held',      'held',      'held',      'held',      'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'OH002',     'OH002'),
  ('disable',        'held',       'processing',  'processing',  'held',      'held',      'held',      'held',      'held',      'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'OH002',     'OH002'),
  ('resume',         'pending',    'processing',  'processing',  'retrying',  'pending',   'pending',   'held',      'held',      'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'OH002',     'OH002'),
  ('resume_lane',    'OH004',      'OH004',       'OH004',       'OH004',     'OH004',     'OH004',     'OH004',     'pending',   'OH004',     'OH004',       'OH004',     'OH004',   'OH004',        'OH004',         'OH002',     'OH002'),
  ('delete',         'cancelled',  'cancelled',   'cancelled',   'cancelled', 'cancelled', 'cancelled', 'cancelled', 'cancelled', 'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'OH002',     'OH002'),
  ('expiry',         'expired',    'expired',     'expired',     'expired',   'expired',   'expired',   'expired',   'expired',   'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'cancelled', 'cancelled');
-- A statement for each: what periodic work does ends a minute after the start of its statement.
select format('select is(outcome(%L, %L), %L, %L)', s.key, r.action, s.value, format('%s: %s', s.key, r.action)) from rule r, jsonb_each_text(to_jsonb(r) - 'action') s
\gexec

select * from finish();
rollback;
