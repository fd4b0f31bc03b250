-- Whatever is wrong with net or Vault, kick() returns false and the publisher goes on.
begin;
select plan(22);

-- A lock that somebody holds is waited for 50 ms and no longer. The helpers give it more time.
select is((select c from pg_proc p, unnest(p.proconfig) c where p.oid = 'outbox.kick(text)'::regprocedure and c like 'lock_timeout=%'), 'lock_timeout=50ms', 'kick() waits 50 ms for a lock');

\ir ../../_helpers.sql

select is(outbox.kick('test'), false, 'kick() is false without configure()');
select outbox.configure('https://project.supabase.co/functions/v1/', repeat('s', 40));
select is(outbox.kick('test'), true, 'kick() is true when net took the request');

-- net broken in every way that a statement can break: a trigger on its queue raises the SQLSTATE of each.
create table helper.fault (code text);
insert into helper.fault values (null);
create function broken() returns trigger language plpgsql as $$
declare
  v_code text := (select f.code from helper.fault f);
begin
  if v_code is not null then raise exception using errcode = v_code, message = 'broken as asked'; end if;
  return new;
end
$$;
create trigger broken before insert on net.http_request_queue for each row execute function broken();
create function kick_with(p_code text) returns boolean language plpgsql as $$
begin
  update helper.fault set code = p_code where true;
  return outbox.kick('test');
end
$$;
select is(kick_with(null), true, 'the trigger alone breaks nothing');
select is(kick_with(c.code), false, 'kick() is false when ' || c.what)
from (values
  ('3F000', 'the schema is missing'), ('42P01', 'a table is missing'), ('42883', 'the function is missing'), ('42501', 'it is forbidden'),
  ('55P03', 'a lock is not to be had'), ('40P01', 'there is a deadlock'), ('53100', 'the disk is full'), ('23505', 'a row is there already'),
  ('22023', 'an argument is refused'), ('25006', 'the transaction is read-only'), ('P0001', 'somebody raises'), ('XX000', 'there is an error inside')
) c (code, what);

-- The publisher does not notice.
update helper.fault set code = 'XX000' where true;
select time_passes('1 min');
do $$ begin perform set_config('outbox.kicked', '', true); end $$;
create temporary table published as select outbox.publish('a', '{}') as id;
select isnt((select id from published), null, 'publish() returns an id');
select is((select count(*)::integer from outbox.unrouted u join published p on p.id = u.event_id), 1, 'the event is stored');

-- Vault without one of the two.
update helper.fault set code = null where true;
delete from vault.secrets where name = 'outhook_worker_secret';
select is(outbox.kick('test'), false, 'kick() is false without a worker secret');
select outbox.configure('https://project.supabase.co/functions/v1/', repeat('s', 40));
select is(outbox.kick('test'), true, 'with both it is true again');
delete from vault.secrets where name = 'outhook_functions_url';
select is(outbox.kick('test'), false, 'kick() is false without a URL');

select outbox.configure('https://project.supabase.co/functions/v1/', repeat('s', 40));
-- After three kicks that start no run there is no further one.
do $$ begin perform setval('outbox.kicks_without_run', 0, false); end $$;
select is(outbox.kick('a reason with "quotes" and ümlauts'), true, 'any reason is taken');

select * from finish();
rollback;
