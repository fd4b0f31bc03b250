-- The life of a breaker as a table: every event in every status, and what becomes of it. What comes in late from before
-- it opened, what a person does, and what says nothing of the endpoint's health leave it as it is.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(185);

-- A breaker in the given status. Of the claim of 13 five may have failed on the way there, and the others are under way in
-- every status; their leases end 65 s after began_at. The probe is the one under way, or what a liar says was one.
create temporary table subject (endpoint_id uuid, claim jsonb, probe jsonb, began_at timestamptz);
create function make(p_status text) returns void language plpgsql as $$
declare
  v_endpoint uuid := endpoint('{for.breaker}', p_breaker => true, p_retry => plain_retry(50), p_timeout_ms => 60000);
  v_events uuid[] := events(20, 'for.breaker');
  v_claim jsonb;
begin
  perform step(0);
  v_claim := step(13);
  delete from subject where true;
  insert into subject values (v_endpoint, results(v_claim, null),
    jsonb_build_object('event', v_events[20], 'endpoint', v_endpoint, 'attempt', 1), outbox.clock());
  perform befalls('five failures', 4) where p_status = 'closed at 4';
  perform befalls('five failures', 5) where p_status in ('open', 'open, time up', 'half_open');
  update subject set claim = jsonb_path_query_array(claim, '$[5 to 12]') where true;
  perform time_passes('30 s') where p_status in ('open, time up', 'half_open');
  if p_status = 'half_open' then
    update subject set probe = results(step(), null) -> 0 where true;
  end if;
end
$$;

-- Results of the first so many of what was claimed before it opened, or of the probe.
create function tell(p_results jsonb, p_outcome text, p_status integer, p_more jsonb default '{}') returns void language sql as $$
  select step(0, jsonb_agg(r || jsonb_build_object('outcome', p_outcome, 'status', p_status) || p_more)) from jsonb_array_elements(p_results) r
$$;

create function befalls(p_event text, p_n integer default 5) returns void language plpgsql as $$
declare
  v subject;
  v_one jsonb;
begin
  select * into v from subject;
  v_one := case when p_event like 'the probe %' then jsonb_build_array(v.probe) else jsonb_build_array(v.claim -> 0) end;
  case regexp_replace(p_event, '^the probe ', 'a result ')
    when 'a result fails' then perform tell(v_one, 'failed', 500);
    when 'a result times out' then perform tell(v_one, 'failed', null, '{"error_class": "timeout"}');
    when 'a result is 429' then perform tell(v_one, 'failed', 429);
    when 'a result is delivered' then perform tell(v_one, 'delivered', 200);
    when 'a result is 404' then perform tell(v_one, 'failed', 404);
    when 'a result is 302' then perform tell(v_one, 'failed', 302);
    when 'a result asks to wait' then perform tell(v_one, 'failed', 429, '{"retry_after": "5"}');
    when 'a result is given back' then perform tell(v_one, 'released', null);
    when 'a result is lost' then
      perform time_is(v.began_at + case when p_event like 'the probe %' then interval '95 s' else '65 s' end);
      perform outbox.retry_now((v_one -> 0 ->> 'event')::uuid, v.endpoint_id);
    when 'a result is lost, another is claimed' then perform time_is(v.began_at + interval '95 s'), step();
    when 'five failures' then perform tell(jsonb_path_query_array(v.claim, '$[0 to $n]', jsonb_build_object('n', p_n - 1)), 'failed', 500);
    when 'a claim' then perform step();
    when '30 s' then perform time_passes('30 s');
    when '30 s, a claim' then perform time_passes('30 s'), step();
    when 'a tick' then perform outbox.tick();
    when 'pause' then perform outbox.pause_endpoint(v.endpoint_id);
    when 'pause, 30 s, a claim' then perform outbox.pause_endpoint(v.endpoint_id), time_passes('30 s'), step();
    when 'pause, resume' then perform outbox.pause_endpoint(v.endpoint_id), outbox.resume_endpoint(v.endpoint_id);
    when 'disable' then perform outbox.disable_endpoint(v.endpoint_id);
    when 'disable, resume' then perform outbox.disable_endpoint(v.endpoint_id), outbox.resume_endpoint(v.endpoint_id);
    when 'delete' then perform outbox.delete_endpoint(v.endpoint_id);
    when 'delete, purge' then
      perform outbox.delete_endpoint(v.endpoint_id), time_passes('100 s'), outbox.purge_deleted(1000), outbox.purge_deleted(1000);
    when 'off' then perform switch_off();
    when 'off, 30 s, a claim' then perform switch_off(), time_passes('30 s'), step();
    when 'off, five failures' then perform switch_off(), befalls('five failures');
    when 'off, a success' then perform switch_off(), befalls('a result is delivered');
    when 'off, the probe is delivered' then perform switch_off(), befalls('the probe is delivered');
    when 'off, the probe fails' then perform switch_off(), befalls('the probe fails');
  end case;
end
$$;
create function switch_off() returns void language sql as $$
  update outbox.endpoint e set breaker_enabled = false, updated_at = outbox.clock() from subject s where e.id = s.endpoint_id
$$;

-- The status with the streak after it, and how long it stays open; everything as before again.
create function outcome(p_status text, p_event text) returns text language plpgsql as $$
declare
  v_outcome text;
  v_was text;
  v_now text;
begin
  begin
    perform make(p_status);
    v_was := breaker_of(endpoint_id) from subject;
    delete from outbox.event where org_id = 'outhook';
    perform befalls(p_event);
    select g.breaker, g.breaker || ' at ' || g.streak || case when g.breaker = 'open' then format(', %s s to go', extract(epoch from greatest(g.open_until - outbox.clock(), '0'))::integer) else '' end
    into v_now, v_outcome
    from outbox.gate g join subject s using (endpoint_id);
    v_outcome := coalesce(v_outcome, 'none');
    -- Whatever happened, it is told when it opens from closed and when it closes, once, and at no other time.
    if (select count(*) from news('outhook.breaker.opened')) <> (v_was = 'closed' and v_now = 'open')::integer
      or (select count(*) from news('outhook.breaker.closed')) <> (v_was <> 'closed' and v_now = 'closed')::integer
    then v_outcome := v_outcome || ', misannounced'; end if;
    if exists (select from miscounts()) then v_outcome := v_outcome || ', miscounted'; end if;
    if exists (select from asleep()) then v_outcome := v_outcome || ', asleep'; end if;
    raise exception using errcode = 'OHTST';
  exception when sqlstate 'OHTST' then
    return v_outcome;
  end;
end
$$;

create temporary table rule (event text, closed text, "closed at 4" text, open text, "open, time up" text, half_open text);
insert into rule values
  -- event                      closed                   closed at 4              open                     open, time up            half_open
  -- Results of what was claimed before it opened.
  ('a result fails',            'closed at 1',           'open at 5, 30 s to go', 'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('a result times out',        'closed at 1',           'open at 5, 30 s to go', 'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('a result is 429',           'closed at 1',           'open at 5, 30 s to go', 'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('five failures',             'open at 5, 30 s to go', 'open at 9, 30 s to go', 'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('a result is delivered',     'closed at 0',           'closed at 0',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('a result is 404',           'closed at 0',           'closed at 0',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('a result is 302',           'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('a result asks to wait',     'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('a result is given back',    'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('a result is lost',          'closed at 0',           'closed at 4',           'open at 5, 0 s to go',  'open at 5, 0 s to go',  'half_open at 5'),
  -- Time and claims.
  ('a claim',                   'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'half_open at 5',        'half_open at 5'),
  ('30 s',                      'closed at 0',           'closed at 4',           'open at 5, 0 s to go',  'open at 5, 0 s to go',  'half_open at 5'),
  ('30 s, a claim',             'closed at 0',           'closed at 4',           'half_open at 5',        'half_open at 5',        'half_open at 5'),
  ('a tick',                    'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  -- Results of the probe, which only a half-open one has.
  ('the probe is delivered',    'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'closed at 0'),
  ('the probe is 404',          'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'closed at 0'),
  ('the probe fails',           'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'open at 6, 30 s to go'),
  ('the probe times out',       'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'open at 6, 30 s to go'),
  ('the probe is 429',          'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'open at 6, 30 s to go'),
  ('the probe is 302',          'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'open at 5, 0 s to go'),
  ('the probe asks to wait',    'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'open at 5, 0 s to go'),
  ('the probe is given back',   'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'open at 5, 0 s to go'),
  ('the probe is lost',         'closed at 0',           'closed at 4',           'open at 5, 0 s to go',  'open at 5, 0 s to go',  'open at 5, 0 s to go'),
  ('the probe is lost, another is claimed', 'closed at 0', 'closed at 4',         'half_open at 5',        'half_open at 5',        'half_open at 5'),
  -- What a person does.
  ('pause',                     'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('pause, 30 s, a claim',      'closed at 0',           'closed at 4',           'open at 5, 0 s to go',  'open at 5, 0 s to go',  'half_open at 5'),
  ('pause, resume',             'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('disable',                   'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('disable, resume',           'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('delete',                    'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('delete, purge',             'none',                  'none',                  'none',                  'none',                  'none'),
  -- Switched off it holds nothing and no longer opens; one that is not closed waits to be switched on again.
  ('off',                       'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('off, 30 s, a claim',        'closed at 0',           'closed at 4',           'open at 5, 0 s to go',  'open at 5, 0 s to go',  'half_open at 5'),
  ('off, five failures',        'closed at 5',           'closed at 9',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('off, a success',            'closed at 0',           'closed at 0',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'half_open at 5'),
  ('off, the probe is delivered', 'closed at 0',         'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'closed at 0'),
  ('off, the probe fails',      'closed at 0',           'closed at 4',           'open at 5, 30 s to go', 'open at 5, 0 s to go',  'open at 6, 30 s to go');
-- A statement for each: what periodic work does ends a minute after the start of its statement.
select format('select is(outcome(%L, %L), %L, %L)', s.key, r.event, s.value, format('%s: %s', s.key, r.event)) from rule r, jsonb_each_text(to_jsonb(r) - 'event') s
\gexec

select * from finish();
rollback;
