-- Settings that somebody has deleted. Without its row, a setting has no value: a run then cannot
-- read the response of dispatch(), and a retention never ends.

create function outbox.settings_problem() returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_missing text;
begin
  -- The functions name the settings that they read.
  select pg_catalog.string_agg(distinct n.name, ', ' order by n.name) into v_missing
  from (
    select m.match[1] as name
    from pg_catalog.pg_proc p
    cross join lateral pg_catalog.regexp_matches(p.prosrc,
      case p.proname
        when 'run_settings' then $name$'([a-z_]+\.[a-z_]+)', '[a-z_]+'$name$
        else $name$outbox\.(?:org_)?setting_(?:int|on|value)\('([a-z_]+\.[a-z_]+)'$name$
      end, 'g') as m (match)
    where p.pronamespace = 'outbox'::regnamespace
      and pg_catalog.strpos(p.prosrc, 'setting') > 0
  ) n
  where not exists (select from outbox.setting s where s.name = n.name);
  if v_missing is null then
    return null;
  end if;
  return pg_catalog.format(
    'settings are missing: %s: insert their rows again (runbook: Missing settings)', v_missing);
end
$$;
comment on function outbox.settings_problem() is
  'The settings that functions read and that have no row; null if there is none.';
