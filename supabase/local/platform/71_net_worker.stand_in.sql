-- net, the worker: it listens on the channel outhook_net (supabase/local/net/). A notification is sent at the
-- caller's commit, as pg_net does.
create function net.wake() returns void
  language sql volatile set search_path = ''
as $$
  select pg_catalog.pg_notify('outhook_net', 'wake')
$$;
comment on function net.wake() is 'Wakes the worker once this transaction has committed.';

create function net.worker_restart() returns boolean
  language plpgsql volatile set search_path = ''
as $$
begin
  perform pg_catalog.pg_notify('outhook_net', 'restart');
  return true;
end
$$;
comment on function net.worker_restart() is
  'Restarts the worker once this transaction has committed.';

-- security definer: only superusers see the application_name of other users' sessions.
create function net.check_worker_is_up() returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform pg_catalog.pg_stat_clear_snapshot();
  if not exists (
    select from pg_catalog.pg_stat_activity as a where a.application_name = 'pg_net worker'
  ) then
    raise exception 'the pg_net background worker is not up'
      using hint = 'The local stack runs it: deno task stack.';
  end if;
end
$$;
comment on function net.check_worker_is_up() is 'Raises an error when the worker is not running.';

create function net.wait_until_running() returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  loop
    perform pg_catalog.pg_stat_clear_snapshot();
    exit when exists (
      select from pg_catalog.pg_stat_activity as a where a.application_name = 'pg_net worker'
    );
    perform pg_catalog.pg_sleep(0.05);
  end loop;
end
$$;
comment on function net.wait_until_running() is 'Returns once the worker is running.';
