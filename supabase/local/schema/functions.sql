-- All functions and procedures of the schema outbox, one per line: arguments, properties, and who may execute
-- them besides the owner.
select concat_ws(' | ',
  p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
  l.lanname,
  case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
  case when p.prosecdef then 'security definer' else 'security invoker' end,
  coalesce(array_to_string(p.proconfig, ', '), 'no settings'),
  'owner ' || p.proowner::regrole,
  'execute: ' || coalesce((
    select string_agg(
      case a.grantee when 0 then 'PUBLIC' else a.grantee::regrole::text end ||
        case when a.is_grantable then ' (may grant)' else '' end,
      ', ' order by a.grantee::regrole::text)
    from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    where a.privilege_type = 'EXECUTE' and a.grantee <> p.proowner), 'nobody'))
from pg_proc p
join pg_language l on l.oid = p.prolang
where p.pronamespace = 'outbox'::regnamespace
order by 1;
