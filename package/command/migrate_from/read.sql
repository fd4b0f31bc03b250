-- The Database Webhooks of a project: triggers that call supabase_functions.http_request with the
-- arguments URL, method, headers, parameters and timeout. Values that may be secret stay in the
-- database: of the URL it returns the host alone, because a path may be a key, with the name of an
-- edge function. A condition may compare with a secret. "version" changes with every change of the
-- trigger. Nothing is cast here: an argument may be any text.
select pg_catalog.jsonb_build_object(
  'role', current_user,
  'can_watch', pg_catalog.to_regprocedure('outbox.unwatch_table(regclass)') is not null,
  'webhooks', (
    select coalesce(pg_catalog.jsonb_agg(pg_catalog.to_jsonb(w) order by w.schema, w.table, w.name),
      '[]')
    from (
      select t.oid::bigint as id, t.oid || ':' || t.xmin as version,
        n.nspname as schema, c.relname as table, t.tgname as name,
        coalesce(pg_catalog.regexp_replace(
            pg_catalog.substring(a.args[1], '^https?://[^/?#]+'), '//.*@', '//…@'), '…')
          || coalesce(pg_catalog.substring(a.args[1],
            '^https?://[^/?#]+(/functions/v1/[A-Za-z0-9_-]+)'), '')
          || case when a.args[1] ~ '^https?://[^/?#]+/?$'
            or a.args[1] ~ '^https?://[^/?#]+/functions/v1/[A-Za-z0-9_-]+$'
            then '' else '/…' end as url,
        pg_catalog.strpos(a.args[1], '?') > 0 as has_query,
        a.args[2] as method,
        case
          when coalesce(a.args[5], 'null') = 'null' then 1000
          when a.args[5] ~ '^[0-9]{1,6}$' then a.args[5]::integer
        end as timeout_ms,
        pg_catalog.array_remove(array[
          case when t.tgtype & 4 > 0 then 'insert' end,
          case when t.tgtype & 16 > 0 then 'update' end,
          case when t.tgtype & 8 > 0 then 'delete' end,
          case when t.tgtype & 32 > 0 then 'truncate' end], null) as events,
        t.tgtype & 1 > 0 as for_each_row,
        t.tgtype & 66 = 0 as after,
        array(
          select f.attname from pg_catalog.pg_attribute f
          where f.attrelid = t.tgrelid and f.attnum = any (t.tgattr::smallint[]) order by f.attnum
        ) as columns,
        t.tgqual is not null as has_condition,
        t.tgenabled as enabled,
        c.relkind = 'v' as of_view,
        c.relkind = 'p' as partitioned,
        pg_catalog.pg_has_role(c.relowner, 'usage') as owned,
        pg_catalog.substring(pg_catalog.obj_description(t.oid, 'pg_trigger'),
          '^Replaced by the Outhook endpoint ([0-9a-f-]{36})') as endpoint_id
      from pg_catalog.pg_trigger t
      join pg_catalog.pg_class c on c.oid = t.tgrelid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      cross join lateral (
        select pg_catalog.array_agg(
          pg_catalog.convert_from(pg_catalog.decode(m.part[1], 'hex'),
            pg_catalog.getdatabaseencoding()) order by m.place) as args
        from pg_catalog.regexp_matches(pg_catalog.encode(t.tgargs, 'hex'),
          '((?:[1-9a-f].|0[1-9a-f])*)00', 'g') with ordinality m (part, place)
      ) a
      where t.tgfoid = pg_catalog.to_regprocedure('supabase_functions.http_request()')
        and t.tgparentid = 0
    ) w),
  -- Triggers of the application that use pg_net in another way.
  'other_triggers', (
    select coalesce(pg_catalog.jsonb_agg(pg_catalog.format('%s on %s', t.tgname, t.tgrelid::regclass)
      order by t.tgname), '[]')
    from pg_catalog.pg_trigger t
    join pg_catalog.pg_proc p on p.oid = t.tgfoid
    where t.tgparentid = 0 and not t.tgisinternal
      and p.pronamespace not in (
        select n.oid from pg_catalog.pg_namespace n
        where n.nspname in ('outbox', 'supabase_functions'))
      and p.prosrc ~* '\m(net\.http_|extensions\.http)')
) as found;
