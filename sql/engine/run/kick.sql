-- Starting runs. A kick is one HTTP request to the function `deliver`, sent by pg_net. pg_net loses
-- some requests. A lost kick delays a delivery, but the delivery is not lost.
--
--   1 A commit that published kicks if no run is awake: kick_on_commit(), is_quiet(), kick(). It
--     also wakes the workers if all of them sleep: see engine/run/waking.
--   2 Each second a job of pg_cron calls tick(). It does periodic work (upkeep()), and kicks if
--     work is due and no run is awake, or if work has waited for 1 s. Nobody kicks if
--     worker.max_runs runs are alive: live_runs().
--
-- An example, with kick.quiet_ms at 500 and worker.max_runs at 2:
--
--   12:00:00.0   An event is published, and no run is awake: the commit kicks, and run R1 starts.
--   12:00:00.4   Another event is published. No kick: the last one was less than 500 ms ago.
--   12:00:01.0   The tick finds nothing due, because R1 has claimed all. No kick.
--   12:00:05.0   10,000 events were published, and a gate has been due since 12:00:04: R1 alone is
--                too slow. One run is less than worker.max_runs: the tick kicks, and R2 starts.
--   12:00:06.0   The gate is still due, but two runs are alive. No kick.
--
-- If pg_net does not send, kicks would pile up, and all be sent when it works again. So after three
-- kicks without a new run only the tick kicks, and only while pg_net's queue has less than three.
--
-- A kick sends no secret: its header is a MAC of the time, valid for five minutes. A replayed kick
-- can at most start one more run, which stops if there are worker.max_runs older ones. A second
-- header names the database, because the kicks of a copy are valid too: see engine/run/binding.

-- The time of the last kick in milliseconds since 1970. A sequence, because all sessions see a new
-- value at once, without a lock, and a rollback keeps it.
create sequence outbox.last_kick minvalue 0 start 0;
-- The numbers of kicks, and the time at which the last tick ended. After a crash the numbers may be
-- up to 32 too high. Before the first tick, last_tick holds the time of the installation, and
-- is_called is false.
create sequence outbox.kicks_on_commit minvalue 0 start 0;
create sequence outbox.kicks_by_tick minvalue 0 start 0;
create sequence outbox.last_tick minvalue 0 start 0;
-- The second, since 1970, in which the last tick began: see comes_round().
create unlogged sequence outbox.last_tick_second minvalue 0 start 0;
-- How many kicks were sent since a run began. A new run sets it to 0.
create sequence outbox.kicks_without_run minvalue 0 start 0;

create function outbox.configure(p_functions_url text, p_worker_secret text) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_request bigint;
begin
  if p_functions_url is null
    or p_functions_url !~ '^https?://[^[:space:]/?#@]+(/[^[:space:]?#]*)?$'
  then
    -- The value is not shown, because it may contain a password or a key.
    perform outbox.invalid('functions_url',
      'is not an http or https URL without credentials and query',
      'Expected https://<project>.supabase.co/functions/v1; inside the CLI''s containers '
      'http://kong:8000/functions/v1');
  end if;
  -- pg_net rejects further URLs, such as one with the port 70000, and every kick would fail. A
  -- worker needs no pg_net.
  begin
    v_request := net.http_post(url => p_functions_url);
    delete from net.http_request_queue q where q.id = v_request;
  exception
    when internal_error then
      perform outbox.invalid('functions_url', 'is not a URL that pg_net can call',
        'Check the host and the port');
    when undefined_function or undefined_table or invalid_schema_name or insufficient_privilege then
      null;
  end;
  if p_worker_secret is null or pg_catalog.length(p_worker_secret) < 32 then
    perform outbox.invalid('worker_secret', 'has fewer than 32 characters',
      'Use a random secret, for example from openssl rand -hex 32, and set the same value as '
      'OUTHOOK_WORKER_SECRET of the functions');
  end if;
  if p_worker_secret ~ '[,[:space:]]' then
    perform outbox.invalid('worker_secret', 'contains a comma or white space',
      'The functions read OUTHOOK_WORKER_SECRET as a list with commas, for a rotation; pass only '
      'the new secret here');
  end if;
  perform outbox.keep_secret('outhook_functions_url', pg_catalog.rtrim(p_functions_url, '/'),
    'Where Outhook''s functions are');
  perform outbox.keep_secret('outhook_worker_secret', p_worker_secret,
    'Shared with the deliver function to sign kicks');
  perform outbox.reload_jobs();
  return pg_catalog.jsonb_build_object(
    'functions_url', pg_catalog.rtrim(p_functions_url, '/'),
    'problems', pg_catalog.to_jsonb(
      pg_catalog.array_remove(array[outbox.tick_problem(), outbox.contract_problem(outbox.clock()),
        outbox.bind_configured(p_functions_url, outbox.clock())], null)));
end
$$;
comment on function outbox.configure(text, text) is
  'Stores the URL of the functions and the secret that signs kicks in Vault. Returns '
  '{"functions_url", "problems": texts about the tick, the versions and the project}. Call it '
  'again to change either. Binds an outbox that no run has bound yet to the project of the URL. '
  'OH001.';

create function outbox.keep_secret(p_name text, p_value text, p_description text) returns void
language plpgsql set search_path = ''
as $$
declare
  v_id uuid;
begin
  select s.id into v_id from vault.secrets s where s.name = p_name;
  if found then
    perform vault.update_secret(v_id, p_value, p_name, p_description);
  else
    perform vault.create_secret(p_value, p_name, p_description);
  end if;
end
$$;
comment on function outbox.keep_secret(text, text, text) is
  'Creates or replaces a secret in Vault by its name.';

-- If pg_net is missing, forbidden, broken or locked, the caller's transaction goes on, after at
-- most the lock timeout.
create function outbox.kick(p_why text) returns boolean
language plpgsql security definer
set search_path = ''
set lock_timeout = '50ms'
as $$
declare
  v_now timestamptz := outbox.clock();
  v_at text := pg_catalog.floor(extract(epoch from pg_catalog.clock_timestamp()))::bigint::text;
  v_url text;
  v_secret text;
begin
  select pg_catalog.max(s.decrypted_secret) filter (where s.name = 'outhook_functions_url'),
    pg_catalog.max(s.decrypted_secret) filter (where s.name = 'outhook_worker_secret')
  into v_url, v_secret
  from vault.decrypted_secrets s
  where s.name in ('outhook_functions_url', 'outhook_worker_secret');
  if v_url is null or v_secret is null or outbox.kicks_paused(v_now) then
    return false;
  end if;
  if not outbox.may_queue_kick(p_why, v_url || '/deliver/run') then
    return false;
  end if;
  perform pg_catalog.setval('outbox.last_kick', (extract(epoch from v_now) * 1000)::bigint);
  perform net.http_post(
    url => v_url || '/deliver/run',
    body => pg_catalog.jsonb_build_object('why', p_why),
    headers => pg_catalog.jsonb_build_object(
      'Content-Type', 'application/json',
      'x-outhook-database', outbox.server_id(),
      'x-outhook-kick', 't=' || v_at || ',v1='
        || pg_catalog.encode(extensions.hmac(v_at, v_secret, 'sha256'), 'hex')),
    timeout_milliseconds => 2000);
  perform pg_catalog.nextval(case p_why
    when 'commit' then 'outbox.kicks_on_commit' else 'outbox.kicks_by_tick'
  end::regclass);
  perform pg_catalog.nextval('outbox.kicks_without_run');
  return true;
exception when assert_failure or others then
  -- Not at a commit, whose transaction belongs to the application.
  if p_why = 'tick' then
    perform outbox.refuse_upkeep('outbox.kick', 'the kick', sqlstate, sqlerrm, '1 minute');
  end if;
  return false;
end
$$;
comment on function outbox.kick(text) is
  'Queues a request to start a run, which pg_net sends after the commit; true if it was queued. '
  'Not if three kicks wait for pg_net. Never raises, and waits at most 50 ms for a lock. An error '
  'in the tick is shown for a minute (refuse_upkeep()).';

create function outbox.may_queue_kick(p_why text, p_url text) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  if (select s.last_value + s.is_called::integer < 3 from outbox.kicks_without_run s)
    or p_why = 'tick' and not pg_catalog.has_table_privilege('net.http_request_queue', 'select')
  then
    return true;
  end if;
  -- The queue of pg_net has no index, and the application may have queued a million requests. So
  -- only the tick reads it, a large one every 10 s, and only if recent kicks have started no run.
  return p_why = 'tick'
    and (pg_catalog.pg_relation_size('net.http_request_queue') < 8 * 1024 * 1024
      or pg_catalog.floor(extract(epoch from outbox.clock()))::bigint % 10 = 0)
    and (
      select pg_catalog.count(*) < 3
      from (select from net.http_request_queue q where q.url = p_url limit 3) q);
end
$$;
comment on function outbox.may_queue_kick(text, text) is
  'Whether a kick may be queued: fewer than three were sent since a run began, or (tick only) '
  'fewer than three wait in the queue of pg_net.';

create function outbox.is_quiet(p_now timestamptz) returns boolean
language plpgsql stable set search_path = ''
as $$
declare
  v_since timestamptz := p_now - outbox.setting_int('kick.quiet_ms') * interval '1 ms';
  -- Ignore times in the future, from a clock that was ahead: they would prevent kicks for too long.
  v_until timestamptz := p_now + interval '10 s';
begin
  return not exists (
      select from outbox.run r
      where r.ended_at is null and r.polled_at > v_since and r.polled_at <= v_until)
    and (
      select s.last_value not between extract(epoch from v_since) * 1000
        and extract(epoch from v_until) * 1000
      from outbox.last_kick s);
end
$$;
comment on function outbox.is_quiet(timestamptz) is
  'Whether no run has polled and no kick was sent within the setting kick.quiet_ms.';

create function outbox.kick_on_commit() returns void
language plpgsql set search_path = ''
as $$
begin
  if pg_catalog.current_setting('outbox.kicked', true) = pg_catalog.pg_current_xact_id()::text then
    return;
  end if;
  perform pg_catalog.set_config('outbox.kicked', pg_catalog.pg_current_xact_id()::text, true);
  perform outbox.notify_workers();
  if outbox.setting_on('worker.enabled') and outbox.setting_on('kick.on_commit')
    and outbox.is_quiet(outbox.clock())
    and outbox.live_runs(outbox.clock()) < outbox.setting_int('worker.max_runs')
  then
    perform outbox.kick('commit');
  end if;
end
$$;
comment on function outbox.kick_on_commit() is
  'Notifies the workers if all of them sleep (notify_workers()), and sends a kick if no run is '
  'awake (is_quiet()) and one more is allowed; at most once in a transaction.';
