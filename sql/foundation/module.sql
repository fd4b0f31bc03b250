-- Which modules are installed, and in which version. The last file of each module records it, and
-- so does the last step of each upgrade. A migration of a module begins with check_module(): so it
-- is neither applied twice, nor without the migrations before it.

create table outbox.installed_module (
  name text primary key,
  version text not null,
  installed_at timestamptz not null,
  changed_at timestamptz not null
);
comment on table outbox.installed_module is
  'The installed modules, each with its version. changed_at: when the version was applied.';

create function outbox.record_module(p_name text) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.installed_module as m (name, version, installed_at, changed_at)
  select p_name, outbox.version() ->> 'version', c.now, c.now
  from (values (pg_catalog.clock_timestamp())) c (now)
  on conflict (name) do update set version = excluded.version, changed_at = excluded.changed_at;
end
$$;
comment on function outbox.record_module(text) is
  'Records that the migrations of a module are applied up to version(). The last statement of a '
  'module and of its upgrades.';

create function outbox.check_module(p_name text, p_version text) returns void
language plpgsql set search_path = ''
as $$
declare
  v_installed text;
begin
  select m.version into v_installed from outbox.installed_module m where m.name = p_name;
  if v_installed is distinct from p_version then
    raise exception using errcode = 'OH004',
      message = case
        when v_installed is null then pg_catalog.format('the module %s is not installed', p_name)
        else pg_catalog.format('the module %s has version %s', p_name, v_installed)
      end || pg_catalog.format(': this migration needs version %s', p_version),
      hint = case
        when v_installed is null then 'Delete this migration, or apply those of the module first.'
        else 'An upgrade goes from one version to the next. If this one was already applied from '
          'another file, delete this file. Otherwise apply the migrations between the versions.'
      end;
  end if;
end
$$;
comment on function outbox.check_module(text, text) is
  'Raises OH004 unless a module is installed in this version. The first statement of a migration.';

create function outbox.installed_modules() returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select coalesce(pg_catalog.jsonb_agg(m.name order by m.installed_at, m.name), '[]')
    from outbox.installed_module m);
end
$$;
comment on function outbox.installed_modules() is
  'The names of the installed modules in the order of their installation: ["core", "api"].';

create function outbox.module_versions() returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select coalesce(pg_catalog.jsonb_object_agg(m.name, m.version), '{}')
    from outbox.installed_module m);
end
$$;
comment on function outbox.module_versions() is
  'The version of each installed module: {"core": "1.1.0", "api": "1.1.0"}.';

create function outbox.module_problem() returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_version text := outbox.version() ->> 'version';
  v_other text;
begin
  select pg_catalog.string_agg(
    pg_catalog.format('%s has version %s', m.name, m.version), ', ' order by m.name)
  into v_other
  from outbox.installed_module m where m.version <> v_version;
  return 'an upgrade to ' || v_version || ' is not finished: the module ' || v_other
    || '. Apply the other migrations of ' || v_version;
end
$$;
comment on function outbox.module_problem() is
  'The modules whose version is not version(), so that some migrations of an upgrade are missing; '
  'null if there are none.';
