-- The life of a delivery as a table: every event that may befall a delivery in every state, and what becomes
-- of it. What the table does not allow is refused, or changes nothing.
begin;
\ir ../_helpers.sql
\ir ../_engine.sql
select plan(124);

-- A delivery in the given state, with an endpoint of its own.
create temporary table subject (endpoint_id uuid, event_id uuid, claim jsonb);
create function make(p_state text) returns void language plpgsql as $$
declare
  v_endpoint uuid := endpoint(array['for.' || replace(p_state, '_', '-')], p_retry => plain_retry(1), p_filter => case when p_state = 'filter_error' then 'strict $.x' end);
  v_type text := 'for.' || replace(p_state, '_', '-');
  v_event uuid;
begin
  delete from subject where true;
  if p_state = 'expired' then
    perform time_passes('-31 d');
    update outbox.subscription set created_at = outbox.clock() where endpoint_id = v_endpoint;
  end if;
  v_event := (events(1, v_type))[1];
  insert into subject values (v_endpoint, v_event, null);
  perform step(0);
  if p_state = 'expired' then
    perform time_passes('31 d'), outbox.expire_deliveries(1000);
  elsif p_state in ('processing', 'lost', 'failed', 'delivered', 'dead_letter') then
    update subject set claim = step() where true;
    perform step(0, results_of(claim, v_endpoint, 'delivered', '{"status": 200}')) from subject where p_state = 'delivered';
    perform step(0, results_of(claim, v_endpoint, 'failed', '{"status": 500}')) from subject where p_state = 'failed';
    perform step(0, results_of(claim, v_endpoint, 'failed', '{"status": 404}')) from subject where p_state = 'dead_letter';
    perform time_passes('20 s') where p_state = 'lost';
  elsif p_state = 'cancelled' then
    perform outbox.cancel_delivery(v_event, v_endpoint);
  elsif p_state = 'held' then
    perform outbox.pause_endpoint(v_endpoint);
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
    when 'pause' then perform outbox.pause_endpoint(v.endpoint_id);
    when 'delete' then perform outbox.delete_endpoint(v.endpoint_id);
    when 'expiry' then
      perform time_passes('31 d'), outbox.expire_deliveries(1000);
  end case;
end
$$;

-- The state after it, or the refusal; everything as before again.
create function outcome(p_state text, p_action text) returns text language plpgsql as $$
declare
  v_outcome text;
begin
  begin
    perform make(p_state);
    begin
      perform befall(p_action);
      select s.status into v_outcome from outbox.delivery_status s join subject on s.event_id = subject.event_id and (s.endpoint_id = subject.endpoint_id or s.endpoint_id is null);
      -- Whatever happened, the books are right and there is one end for each life that has ended.
      if exists (select from miscounts()) then v_outcome := v_outcome || ', miscounted'; end if;
      if exists (select from asleep() a, outbox.gate g, outbox.endpoint e where a.what = 'gate' and g.id = a.id and e.id = g.endpoint_id and e.state <> 'deleted') then v_outcome := v_outcome || ', asleep'; end if;
    exception when sqlstate 'OH001' or sqlstate 'OH002' or sqlstate 'OH004' then
      v_outcome := sqlstate;
    end;
    raise exception using errcode = 'OHTST';
  exception when sqlstate 'OHTST' then
    return v_outcome;
  end;
end
$$;

create temporary table rule (state text, action text, becomes text);
insert into rule
select s.state, a.action, case a.action
  when 'claim' then s.claim when 'a late result' then s.state when 'delivered' then s.delivered when 'fails' then s.fails when 'is refused' then s.refused
  when 'is given back' then s.given when 'retry_now' then s.retry when 'cancel' then s.cancel when 'replay' then s.replay when 'discard' then s.discard
  when 'pause' then s.pause when 'delete' then s.gone else s.expiry end
from (values
  -- state       claim          delivered      fails          refused        given back     retry_now      cancel         replay         discard        pause          delete         expiry
  ('pending',    'processing',  'pending',     'pending',     'pending',     'pending',     'pending',     'cancelled',   'pending',     'OH002',       'held',        'cancelled',   'expired'),
  ('processing', 'processing',  'delivered',   'failed',      'dead_letter', 'pending',     'OH004',       'OH004',       'OH004',       'OH002',       'processing',  'cancelled',   'expired'),
  ('failed',     'failed',      'failed',      'failed',      'failed',      'failed',      'failed',      'cancelled',   'pending',     'OH002',       'held',        'cancelled',   'expired'),
  ('held',       'held',        'held',        'held',        'held',        'held',        'held',        'cancelled',   'held',        'OH002',       'held',        'cancelled',   'expired'),
  ('delivered',  'delivered',   'delivered',   'delivered',   'delivered',   'delivered',   'OH002',       'OH002',       'pending',     'OH002',       'delivered',   'delivered',   'delivered'),
  ('dead_letter','dead_letter', 'dead_letter', 'dead_letter', 'dead_letter', 'dead_letter', 'OH002',       'OH002',       'pending',     'dead_letter', 'dead_letter', 'dead_letter', 'dead_letter'),
  ('cancelled',  'cancelled',   'cancelled',   'cancelled',   'cancelled',   'cancelled',   'OH002',       'OH002',       'pending',     'OH002',       'cancelled',   'cancelled',   'cancelled'),
  ('expired',    'expired',     'expired',     'expired',     'expired',     'expired',     'OH002',       'OH002',       'pending',     'expired',     'expired',     'expired',     'expired'),
  ('filter_error','filter_error','filter_error','filter_error','filter_error','filter_error','OH002',      'OH002',       'pending',     'OH002',       'filter_error','filter_error','filter_error')
) s (state, claim, delivered, fails, refused, given, retry, cancel, replay, discard, pause, gone, expiry)
cross join unnest(array['claim', 'a late result', 'delivered', 'fails', 'is refused', 'is given back', 'retry_now', 'cancel', 'replay', 'discard', 'pause', 'delete', 'expiry']) a (action);
select is(outcome(state, action), becomes, format('%s: %s', state, action)) from rule;

-- A lease that has ended: it is processing until somebody comes to it, and then a failure.
select is(outcome('lost', c.action), c.becomes, 'lost: ' || c.action)
from (values ('claim', 'failed'), ('retry_now', 'failed'), ('cancel', 'cancelled'), ('replay', 'pending'), ('expiry', 'expired'), ('discard', 'OH002'), ('a late result', 'processing')) c (action, becomes);

select * from finish();
rollback;
