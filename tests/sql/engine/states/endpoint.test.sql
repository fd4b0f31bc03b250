-- Modules: api
-- The statuses of an endpoint as a table: everything that may befall one in every status, and what becomes of it. What is
-- refused leaves its row as it was.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(104);

-- An endpoint in the given status, which has failed for a little more than five days; a run holds one of its deliveries.
create temporary table subject (endpoint_id uuid, event_id uuid, claim jsonb);
create function make(p_status text) returns void language plpgsql as $$
declare
  v_endpoint uuid := endpoint('{for.endpoint}', p_retry => plain_retry(50));
  v_event uuid := (events(1, 'for.endpoint'))[1];
begin
  perform step(0, results(step(), 'failed', '{"status": 500}'));
  perform time_passes('5 d'), time_passes('1 s');
  delete from subject where true;
  insert into subject values (v_endpoint, v_event, step());
  perform outbox.set_endpoint_status(v_endpoint, p_status, 'as it was') where p_status <> 'enabled';
end
$$;

create function befall(p_action text) returns void language plpgsql as $$
declare
  v subject;
  v_version integer;
begin
  select * into v from subject;
  select e.version into v_version from outbox.endpoint e where e.id = v.endpoint_id;
  case p_action
    when 'pause' then perform outbox.pause_endpoint(v.endpoint_id);
    when 'pause, with a reason' then perform outbox.pause_endpoint(v.endpoint_id, 'why');
    when 'resume' then perform outbox.resume_endpoint(v.endpoint_id);
    when 'disable' then perform outbox.disable_endpoint(v.endpoint_id);
    when 'delete' then perform outbox.delete_endpoint(v.endpoint_id);
    when 'a success' then perform step(0, results(v.claim, 'delivered', '{"status": 200}'));
    when 'a 404' then perform step(0, results(v.claim, 'failed', '{"status": 404}'));
    when 'a 410' then perform step(0, results(v.claim, 'failed', '{"status": 410}'));
    when 'a failure after 5 days of them' then perform step(0, results(v.claim, 'failed', '{"status": 500}'));
    when 'a failure of the first day' then perform time_passes('-4 d'), step(0, results(v.claim, 'failed', '{"status": 500}'));
    when 'a claim' then perform step();
    when 'a tick' then perform outbox.tick();
    when 'a night' then perform time_passes('1 d'), outbox.cleanup(), outbox.tick();
    when 'API: pause' then perform outbox.pause_org_endpoint('default', v.endpoint_id, 'why');
    when 'API: resume' then perform outbox.resume_org_endpoint('default', v.endpoint_id);
    when 'API: delete' then perform outbox.delete_org_endpoint('default', v.endpoint_id, v_version);
    when 'API: change' then perform outbox.update_org_endpoint('default', v.endpoint_id, '{"timeoutMs": 2000}', v_version);
    when 'API: change of what cannot be' then perform outbox.update_org_endpoint('default', v.endpoint_id, '{"timeoutMs": 1}', v_version);
    when 'API: change by a late editor' then perform outbox.update_org_endpoint('default', v.endpoint_id, '{"timeoutMs": 2000}', v_version - 1);
    when 'API: delete by a late editor' then perform outbox.delete_org_endpoint('default', v.endpoint_id, v_version - 1);
    when 'API: pause by another org' then perform outbox.pause_org_endpoint('other', v.endpoint_id);
    when 'API: resume by another org' then perform outbox.resume_org_endpoint('other', v.endpoint_id);
    when 'API: delete by another org' then perform outbox.delete_org_endpoint('other', v.endpoint_id);
    when 'API: change by another org' then perform outbox.update_org_endpoint('other', v.endpoint_id, '{"timeoutMs": 2000}');
    when 'a test event' then perform outbox.send_test_event(v.endpoint_id);
    when 'a replay' then perform step(0, results(v.claim, 'delivered', '{"status": 200}')), outbox.replay(v.event_id, v.endpoint_id);
  end case;
end
$$;

-- The status and its reason after it, or the refusal; everything as before again.
create function outcome(p_status text, p_action text) returns text language plpgsql as $$
declare
  v_outcome text;
  v_was outbox.endpoint;
  v_is outbox.endpoint;
  v_told boolean;
begin
  begin
    perform make(p_status);
    select e.* into v_was from outbox.endpoint e join subject s on e.id = s.endpoint_id;
    begin
      perform befall(p_action);
      select e.* into v_is from outbox.endpoint e join subject s on e.id = s.endpoint_id;
      v_outcome := v_is.status || coalesce(': ' || v_is.status_reason, '');
      -- Editors rely on the version: it grows by one with every change of the row.
      if (v_is.version - v_was.version) <> ((v_is.*) is distinct from (v_was.*))::integer then v_outcome := v_outcome || ', version ' || v_is.version; end if;
      -- The ramp begins with what is served again, and with nothing else.
      if (v_is.ramp_from = outbox.clock()) <> (v_is.status = 'enabled' and v_was.status <> 'enabled') then v_outcome := v_outcome || ', wrong ramp'; end if;
    exception when others then
      v_outcome := sqlstate;
      select e.* into v_is from outbox.endpoint e join subject s on e.id = s.endpoint_id;
      if v_is is distinct from v_was then v_outcome := v_outcome || ', changed'; end if;
    end;
    v_told := (select count(*) = 1 from news('outhook.endpoint.disabled'));
    if v_told <> (v_is.status = 'disabled' and v_is is distinct from v_was and v_is.status_reason <> 'as it was') then v_outcome := v_outcome || ', misannounced'; end if;
    if exists (select from miscounts()) then v_outcome := v_outcome || ', miscounted'; end if;
    raise exception using errcode = 'OHTST';
  exception when sqlstate 'OHTST' then
    return v_outcome;
  end;
end
$$;

create temporary table rule (action text, enabled text, paused text, disabled text, deleted text);
insert into rule values
  -- action                          enabled                       paused                    disabled                    deleted
  ('pause',                          'paused: paused by hand',     'paused: paused by hand', 'paused: paused by hand',   'OH002'),
  ('pause, with a reason',           'paused: why',                'paused: why',            'paused: why',              'OH002'),
  ('resume',                         'enabled',                    'enabled',                'enabled',                  'OH002'),
  ('disable',                        'disabled: disabled by hand', 'disabled: disabled by hand', 'disabled: disabled by hand', 'OH002'),
  ('delete',                         'deleted: deleted',           'deleted: deleted',       'deleted: deleted',         'OH002'),
  -- What a run reports of an attempt that was under way disables what is served, and nothing that a person has decided on.
  ('a success',                      'enabled',                    'paused: as it was',      'disabled: as it was',      'deleted: as it was'),
  ('a 404',                          'disabled: failing_for_days', 'paused: as it was',      'disabled: as it was',      'deleted: as it was'),
  ('a 410',                          'disabled: gone',             'paused: as it was',      'disabled: as it was',      'deleted: as it was'),
  ('a failure after 5 days of them', 'disabled: failing_for_days', 'paused: as it was',      'disabled: as it was',      'deleted: as it was'),
  ('a failure of the first day',     'enabled',                    'paused: as it was',      'disabled: as it was',      'deleted: as it was'),
  ('a claim',                        'enabled',                    'paused: as it was',      'disabled: as it was',      'deleted: as it was'),
  ('a tick',                         'enabled',                    'paused: as it was',      'disabled: as it was',      'deleted: as it was'),
  ('a night',                        'enabled',                    'paused: as it was',      'disabled: as it was',      'deleted: as it was'),
  ('API: pause',                     'paused: why',                'paused: why',            'paused: why',              'OH002'),
  ('API: resume',                    'enabled',                    'enabled',                'enabled',                  'OH002'),
  ('API: delete',                    'deleted: deleted',           'deleted: deleted',       'deleted: deleted',         'OH002'),
  ('API: change',                    'enabled',                    'paused: as it was',      'disabled: as it was',      'OH002'),
  ('API: change of what cannot be',  'OH001',                      'OH001',                  'OH001',                    'OH002'),
  ('API: change by a late editor',   'OH008',                      'OH008',                  'OH008',                    'OH002'),
  ('API: delete by a late editor',   'OH008',                      'OH008',                  'OH008',                    'OH002'),
  ('API: pause by another org',      'OH002',                      'OH002',                  'OH002',                    'OH002'),
  ('API: resume by another org',     'OH002',                      'OH002',                  'OH002',                    'OH002'),
  ('API: delete by another org',     'OH002',                      'OH002',                  'OH002',                    'OH002'),
  ('API: change by another org',     'OH002',                      'OH002',                  'OH002',                    'OH002'),
  ('a test event',                   'enabled',                    'OH004',                  'OH004',                    'OH002'),
  ('a replay',                       'enabled',                    'paused: as it was',      'disabled: as it was',      'OH002');
-- A statement for each: what periodic work does ends a minute after the start of its statement.
select format('select is(outcome(%L, %L), %L, %L)', s.key, r.action, s.value, format('%s: %s', s.key, r.action)) from rule r, jsonb_each_text(to_jsonb(r) - 'action') s
\gexec

select * from finish();
rollback;
