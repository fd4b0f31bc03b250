-- What Outhook has of the tables with Database Webhooks: the watches, the endpoints, and why the
-- arguments of a webhook cannot be those of an endpoint. Headers and parameters may be any text:
-- watch_of() reads JSON and returns null if a text is none, without an error that holds a value.
with hook as materialized (
  select t.oid::bigint as id, a.args[1] as url,
    pg_catalog.substring(pg_catalog.obj_description(t.oid, 'pg_trigger'),
      '^Replaced by the Outhook endpoint ([0-9a-f-]{36})') as endpoint_id,
    outbox.watch_of(pg_catalog.convert_to(
      '{"type": "-", "value": ' || coalesce(nullif(a.args[3], 'null'), '{}') || '}',
      pg_catalog.getdatabaseencoding())) -> 'value' as headers,
    outbox.watch_of(pg_catalog.convert_to(
      '{"type": "-", "value": ' || coalesce(nullif(a.args[4], 'null'), '{}') || '}',
      pg_catalog.getdatabaseencoding())) -> 'value' as params
  from pg_catalog.pg_trigger t
  cross join lateral (
    select pg_catalog.array_agg(pg_catalog.convert_from(pg_catalog.decode(m.part[1], 'hex'),
      pg_catalog.getdatabaseencoding()) order by m.place) as args
    from pg_catalog.regexp_matches(pg_catalog.encode(t.tgargs, 'hex'),
      '((?:[1-9a-f].|0[1-9a-f])*)00', 'g') with ordinality m (part, place)
  ) a
  where t.tgfoid = pg_catalog.to_regprocedure('supabase_functions.http_request()')
    and t.tgparentid = 0
),
installation as materialized (select outbox.check_installation() as facts)
select pg_catalog.jsonb_build_object(
  'delivers', (
    select coalesce((i.facts -> 'runs' ->> 'worker')::integer, 0) > 0
      or (i.facts -> 'configured' ->> 'readable')::integer = 2
        and (coalesce((i.facts -> 'runs' ->> 'edge')::integer, 0) > 0
          or coalesce(i.facts -> 'jobs' @> '[{"name": "outhook-tick", "active": true}]', false))
    from installation i),
  'timeout_ms', outbox.setting_int('endpoint.timeout_ms'),
  'watches', (
    select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'schema', n.nspname, 'table', c.relname, 'watch', w.watch - 'call',
      'operations', w.operations, 'versions', w.versions, 'problem', (
        select b.problem from outbox.broken_watch b where b.table = w.tgrelid
        order by b.problem limit 1))), '[]')
    from (
      select t.tgrelid,
        (pg_catalog.array_agg(a.watch) filter (where a.watch is not null))[1] as watch,
        pg_catalog.jsonb_agg(t.oid || ':' || t.xmin order by t.oid) as versions,
        pg_catalog.array_remove(array[
          case when pg_catalog.bool_or(a.publishes and t.tgtype & 4 > 0) then 'insert' end,
          case when pg_catalog.bool_or(a.publishes and t.tgtype & 16 > 0) then 'update' end,
          case when pg_catalog.bool_or(a.publishes and t.tgtype & 8 > 0) then 'delete' end],
          null) as operations
      from pg_catalog.pg_trigger t
      cross join lateral (
        select outbox.watch_of(t.tgargs) as watch,
          t.tgfoid in ('outbox.publish_row()'::regprocedure,
            'outbox.publish_rows()'::regprocedure) as publishes
        offset 0
      ) a
      where t.tgparentid = 0
        and t.tgfoid in ('outbox.publish_row()'::regprocedure,
          'outbox.publish_rows()'::regprocedure, 'outbox.publish_moves()'::regprocedure,
          'outbox.name_columns()'::regprocedure)
      group by t.tgrelid
    ) w
    join pg_catalog.pg_class c on c.oid = w.tgrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace),
  'endpoints', (
    select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'id', e.id, 'url', coalesce(pg_catalog.substring(e.url, '^https?://[^/?#]+'), '…'),
      'patterns', array(
        select s.pattern from outbox.subscription s where s.endpoint_id = e.id))), '[]')
    from outbox.endpoint e
    where e.org_id = {org} and e.status <> 'deleted'),
  -- The webhooks whose endpoint still gets events.
  'replaced', (
    select coalesce(pg_catalog.jsonb_agg(h.id), '[]') from hook h
    where exists (
      select from outbox.subscription s where s.endpoint_id::text = h.endpoint_id)),
  'headers', (
    select coalesce(pg_catalog.jsonb_object_agg(h.id, array(
      select k from pg_catalog.jsonb_object_keys(h.headers) k
      where pg_catalog.lower(k) <> 'content-type')), '{}')
    from hook h where pg_catalog.jsonb_typeof(h.headers) = 'object'),
  'params', (
    select coalesce(pg_catalog.jsonb_object_agg(h.id, array(
      select k from pg_catalog.jsonb_object_keys(h.params) k)), '{}')
    from hook h where pg_catalog.jsonb_typeof(h.params) = 'object'),
  'url_problems', (
    select coalesce(pg_catalog.jsonb_object_agg(u.id, u.problem) filter (where u.problem is not null),
      '{}')
    from (
      select a.id, case
        when a.url ~ '[[:space:][:cntrl:]]' then 'holds a space or a control character'
        when a.url !~* '^https?://[^/?#]+' then 'is not an absolute http or https URL'
        when a.url ~* '^https?://[^/?#]*@' then 'carries credentials'
        when a.url ~* '^http://' and not outbox.setting_on('egress.allow_http') then 'is not https'
        else outbox.authority_problem(a.url)
      end as problem
      from hook a
    ) u),
  'header_problems', (
    select coalesce(pg_catalog.jsonb_object_agg(p.id, p.problems), '{}')
    from (
      select h.id,
        pg_catalog.jsonb_object_agg(v.key, outbox.header_problem(v.key, v.value)) as problems
      from hook h
      cross join lateral pg_catalog.jsonb_each(
        case when pg_catalog.jsonb_typeof(h.headers) = 'object' then h.headers end) v
      where outbox.header_problem(v.key, v.value) is not null
      group by h.id
    ) p)
) as found;
