-- What tells one database from another. database_id() names the database: a dump that is restored
-- elsewhere, a copy by `create database … template` and an upgrade by pg_upgrade have another id. A
-- physical copy (pg_basebackup, a snapshot, a project restored from a backup) has the same id, and
-- so has a standby after its promotion. server_id() also tells running servers apart, because no
-- two of them started in the same microsecond. It changes with each restart.

create function outbox.database_id() returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_id text := nullif(pg_catalog.current_setting('outbox.database_id', true), '');
begin
  if v_id is not null then
    return v_id;
  end if;
  begin
    v_id := (select c.system_identifier::text from pg_catalog.pg_control_system() c);
  exception when insufficient_privilege then
    v_id := '0';
  end;
  v_id := v_id || '/' || (
    select d.oid::text from pg_catalog.pg_database d
    where d.datname = pg_catalog.current_database());
  -- Reading the control file takes 40 us, and a session stays in one database of one server.
  perform pg_catalog.set_config('outbox.database_id', v_id, false);
  return v_id;
end
$$;
comment on function outbox.database_id() is
  'The identity of this database: the system identifier of the server and the oid of the database. '
  'A physical copy has the same one. Stored in the session.';

create function outbox.server_id() returns text
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(
    pg_catalog.concat_ws('/', outbox.database_id(),
      extract(epoch from pg_catalog.pg_postmaster_start_time())), 'UTF8')), 'hex'), 32);
end
$$;
comment on function outbox.server_id() is
  'The identity of this database on the server that runs now, as 32 hexadecimal digits: a kick '
  'carries it, so that a function recognises the kicks of a physical copy. It changes with each '
  'start of the server.';
