-- Whether kicks are sent. Their secrets may be unreadable in Vault. The background worker of pg_net
-- can end or hang, and then requests stay in its queue, while its functions still accept new ones.

create function outbox.kicks_waiting() returns integer
language plpgsql stable set search_path = ''
as $$
begin
  -- The queue of pg_net has no index: see may_queue_kick().
  if pg_catalog.to_regclass('net.http_request_queue') is null
    or not pg_catalog.has_table_privilege('net.http_request_queue', 'select')
    or pg_catalog.pg_relation_size('net.http_request_queue') >= 8 * 1024 * 1024
  then
    return null;
  end if;
  return (
    select pg_catalog.count(*) from net.http_request_queue q
    where q.headers ? 'x-outhook-database' and q.url like '%/deliver/run');
end
$$;
comment on function outbox.kicks_waiting() is
  'How many kicks pg_net has not sent. Null if this cannot be determined: pg_net is missing, or '
  'its queue is larger than 8 MB.';

create function outbox.unreadable_kick_secret() returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_names constant text[] := array['outhook_functions_url', 'outhook_worker_secret'];
  v_name text;
begin
  if not exists (select from vault.secrets s where s.name = any (v_names)) then
    return null;
  end if;
  foreach v_name in array v_names loop
    begin
      perform outbox.vault_text((select s.id from vault.secrets s where s.name = v_name), v_name);
    exception when assert_failure or others then
      return pg_catalog.format('%s (%s %s)', v_name, sqlstate, pg_catalog.left(sqlerrm, 200));
    end;
  end loop;
  return null;
end
$$;
comment on function outbox.unreadable_kick_secret() is
  'The secret of kicks that Vault cannot return, with the error; null if there is none, or if '
  'configure() was never called.';

create function outbox.kick_problem(p_now timestamptz) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_unreadable text := outbox.unreadable_kick_secret();
  v_at timestamptz;
  v_waiting integer;
begin
  if v_unreadable is not null then
    return pg_catalog.format(
      'no kick is sent, because a secret cannot be read from Vault: %s: outbox.configure() sets it '
      'again (runbook: Kicks wait)', v_unreadable);
  end if;
  select pg_catalog.to_timestamp(k.last_value / 1000.0) into v_at
  from outbox.last_kick k, outbox.kicks_without_run w
  where w.last_value + w.is_called::integer > 0;
  -- The tick kicks each second until three kicks wait, every 10 s if pg_net's queue is large.
  if v_at is null or v_at > p_now - interval '20 s' then
    return null;
  end if;
  v_waiting := outbox.kicks_waiting();
  if v_waiting > 0 then
    return pg_catalog.format(
      'pg_net does not send: %s kicks wait in its queue, the last since %s, run select '
      'net.worker_restart() (runbook: Kicks wait)', v_waiting, outbox.iso_time(v_at));
  elsif v_waiting is null
    and pg_catalog.to_regclass('net.http_request_queue') is not null
    and outbox.setting_on('worker.enabled') and outbox.has_due(p_now - interval '20 s')
  then
    return pg_catalog.format(
      'no run has begun since the kick of %s, and the queue of pg_net has %s of requests '
      '(runbook: Kicks wait)', outbox.iso_time(v_at),
      pg_catalog.pg_size_pretty(pg_catalog.pg_relation_size('net.http_request_queue')));
  end if;
  return null;
end
$$;
comment on function outbox.kick_problem(timestamptz) is
  'Why no kick is sent (its secrets cannot be read), or why kicks start no run although they were '
  'queued 20 s ago or earlier: pg_net does not send them. Null if it does.';
