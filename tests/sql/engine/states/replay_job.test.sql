-- Modules: api
-- The statuses of a replay job as a table: every change and every step in each, and what becomes of it. A job that has
-- ended stays as it ended.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(126);

-- A job over three dead letters, two a second, in the given status.
create temporary table subject (endpoint_id uuid, job_id text);
create function make(p_status text) returns void language plpgsql as $$
declare
  v_endpoint uuid := endpoint('{for.job}');
begin
  perform events(3, 'for.job'), step(0);
  perform send('failed', '{"status": 404}');
  delete from subject where true;
  insert into subject values (v_endpoint, outbox.replay_many('default', v_endpoint, p_rate_per_second => 2) ->> 'id');
  perform outbox.tick() where p_status <> 'new';
  perform outbox.tick() where p_status in ('at its end', 'paused at its end', 'done');
  perform outbox.tick() where p_status = 'done';
  perform outbox.set_replay_job(job_id, 'paused') from subject where p_status in ('paused', 'paused at its end');
  perform outbox.set_replay_job(job_id, 'cancelled') from subject where p_status = 'cancelled';
end
$$;

create function befall(p_action text) returns void language plpgsql as $$
declare
  v subject;
begin
  select * into v from subject;
  perform time_passes('1 s');
  case p_action
    when 'running' then perform outbox.set_replay_job(v.job_id, 'running');
    when 'paused' then perform outbox.set_replay_job(v.job_id, 'paused');
    when 'cancelled' then perform outbox.set_replay_job(v.job_id, 'cancelled');
    when 'done' then perform outbox.set_replay_job(v.job_id, 'done');
    when 'null' then perform outbox.set_replay_job(v.job_id, null);
    when 'API: running' then perform outbox.change_replay_job('default', v.job_id, 'running');
    when 'API: paused' then perform outbox.change_replay_job('default', v.job_id, 'paused');
    when 'API: cancelled' then perform outbox.change_replay_job('default', v.job_id, 'cancelled');
    when 'API: done' then perform outbox.change_replay_job('default', v.job_id, 'done');
    when 'API: cancelled by another org' then perform outbox.change_replay_job('other', v.job_id, 'cancelled');
    when 'a tick' then perform outbox.tick();
    when 'ticks' then perform outbox.tick() from generate_series(1, 4);
    when 'running, ticks' then perform outbox.set_replay_job(v.job_id, 'running'), outbox.tick(), outbox.tick(), outbox.tick();
    when 'endpoint paused, ticks' then perform outbox.pause_endpoint(v.endpoint_id), outbox.tick(), outbox.tick(), outbox.tick();
    when 'endpoint deleted, ticks' then perform outbox.delete_endpoint(v.endpoint_id), outbox.tick(), outbox.tick(), outbox.tick();
    when 'letters discarded, a tick' then
      perform outbox.discard_dead_letter(x.event_id, x.endpoint_id, 'why') from outbox.dead_letter x where x.replayed_at is null;
      perform outbox.tick();
    when 'more letters, ticks' then
      perform events(2, 'for.job'), step(0);
      perform send('failed', '{"status": 404}'), outbox.tick(), outbox.tick(), outbox.tick();
    when 'two days' then perform time_passes('2 d'), outbox.cleanup();
  end case;
end
$$;

-- The status with how many were put back and skipped, or the refusal; everything as before again.
create function outcome(p_status text, p_action text) returns text language plpgsql as $$
declare
  v_outcome text;
  v_was outbox.replay_job;
  v_is outbox.replay_job;
begin
  begin
    perform make(p_status);
    select j.* into v_was from outbox.replay_job j join subject s on s.job_id = j.id::text;
    begin
      perform befall(p_action);
      select j.* into v_is from outbox.replay_job j join subject s on s.job_id = j.id::text;
      v_outcome := v_is.status || ' ' || v_is.replayed || case when v_is.skipped > 0 then ', ' || v_is.skipped || ' skipped' else '' end;
    exception when others then
      v_outcome := sqlstate;
      select j.* into v_is from outbox.replay_job j join subject s on s.job_id = j.id::text;
      if v_is is distinct from v_was then v_outcome := v_outcome || ', changed'; end if;
    end;
    -- It says when it ended, once and for all, and no sooner.
    if (v_is.finished_at is null) <> (v_is.status in ('running', 'paused')) or v_is.finished_at <> v_was.finished_at then
      v_outcome := v_outcome || ', wrong end';
    end if;
    if v_was.finished_at is not null and v_is is distinct from v_was then v_outcome := v_outcome || ', not at rest'; end if;
    if exists (select from miscounts()) then v_outcome := v_outcome || ', miscounted'; end if;
    raise exception using errcode = 'OHTST';
  exception when sqlstate 'OHTST' then
    return v_outcome;
  end;
end
$$;

create temporary table rule (action text, new text, running text, "at its end" text, paused text, "paused at its end" text, done text, cancelled text);
insert into rule values
  -- action                         new                     running                 at its end     paused      paused at its end  done      cancelled
  ('running',                       'running 0',            'running 2',            'running 3',   'running 2', 'running 3',      'OH002',  'OH002'),
  ('paused',                        'paused 0',             'paused 2',             'paused 3',    'paused 2',  'paused 3',       'OH002',  'OH002'),
  ('cancelled',                     'cancelled 0',          'cancelled 2',          'cancelled 3', 'cancelled 2', 'cancelled 3',  'OH002',  'OH002'),
  ('done',                          'OH001',                'OH001',                'OH001',       'OH001',     'OH001',          'OH001',  'OH001'),
  ('null',                          'OH001',                'OH001',                'OH001',       'OH001',     'OH001',          'OH001',  'OH001'),
  ('API: running',                  'running 0',            'running 2',            'running 3',   'running 2', 'running 3',      'OH004',  'OH004'),
  ('API: paused',                   'paused 0',             'paused 2',             'paused 3',    'paused 2',  'paused 3',       'OH004',  'OH004'),
  ('API: cancelled',                'cancelled 0',          'cancelled 2',          'cancelled 3', 'cancelled 2', 'cancelled 3',  'OH004',  'OH004'),
  ('API: done',                     'OH001',                'OH001',                'OH001',       'OH001',     'OH001',          'OH004',  'OH004'),
  ('API: cancelled by another org', 'OH002',                'OH002',                'OH002',       'OH002',     'OH002',          'OH002',  'OH002'),
  ('a tick',                        'running 2',            'running 3',            'done 3',      'paused 2',  'paused 3',       'done 3', 'cancelled 2'),
  ('ticks',                         'done 3',               'done 3',               'done 3',      'paused 2',  'paused 3',       'done 3', 'cancelled 2'),
  ('running, ticks',                'done 3',               'done 3',               'done 3',      'done 3',    'done 3',         'OH002',  'OH002'),
  ('endpoint paused, ticks',        'done 3',               'done 3',               'done 3',      'paused 2',  'paused 3',       'done 3', 'cancelled 2'),
  ('endpoint deleted, ticks',       'done 0, 3 skipped',    'done 2, 1 skipped',    'done 3',      'paused 2',  'paused 3',       'done 3', 'cancelled 2'),
  ('letters discarded, a tick',     'done 0',               'done 2',               'done 3',      'paused 2',  'paused 3',       'done 3', 'cancelled 2'),
  ('more letters, ticks',           'done 3',               'done 3',               'done 3',      'paused 2',  'paused 3',       'done 3', 'cancelled 2'),
  ('two days',                      'running 0',            'running 2',            'running 3',   'paused 2',  'paused 3',       'done 3', 'cancelled 2');
-- A statement for each: what periodic work does ends a minute after the start of its statement.
select format('select is(outcome(%L, %L), %L, %L)', s.key, r.action, s.value, format('%s: %s', s.key, r.action)) from rule r, jsonb_each_text(to_jsonb(r) - 'action') s
\gexec

select * from finish();
rollback;
