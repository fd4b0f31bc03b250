-- What Outhook has of the tables with Database Webhooks: the watch of each, the endpoints of the
-- organisation, and why a URL cannot be the URL of an endpoint.
select pg_catalog.jsonb_build_object(
  'configured', (outbox.check_installation() -> 'configured' ->> 'readable')::integer = 2,
  'timeout_ms', outbox.setting_int('endpoint.timeout_ms'),
  'watches', (
    select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'schema', n.nspname, 'table', c.relname, 'watch', w.watch - 'call',
      'operations', w.operations)), '[]')
    from (
      select t.tgrelid,
        (pg_catalog.array_agg(pg_catalog.convert_from(
          pg_catalog.rtrim(t.tgargs, '\x00'::bytea), pg_catalog.getdatabaseencoding())))[1]::jsonb as watch,
        pg_catalog.array_remove(array[
          case when pg_catalog.bool_or(t.tgtype & 4 > 0) then 'insert' end,
          case when pg_catalog.bool_or(t.tgtype & 16 > 0) then 'update' end,
          case when pg_catalog.bool_or(t.tgtype & 8 > 0) then 'delete' end], null) as operations
      from pg_catalog.pg_trigger t
      where t.tgparentid = 0
        and t.tgfoid
          in ('outbox.publish_row()'::regprocedure, 'outbox.publish_rows()'::regprocedure)
      group by t.tgrelid
    ) w
    join pg_catalog.pg_class c on c.oid = w.tgrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace),
  'endpoints', (
    select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'id', e.id, 'url', pg_catalog.split_part(e.url, '?', 1), 'patterns', array(
        select s.pattern from outbox.subscription s where s.endpoint_id = e.id))), '[]')
    from outbox.endpoint e
    where e.org_id = {org} and e.status <> 'deleted'),
  'url_problems', (
    select coalesce(pg_catalog.jsonb_object_agg(u.id, u.problem) filter (where u.problem is not null),
      '{}')
    from (
      select t.oid::bigint as id, case
        when a.url ~ '[[:space:][:cntrl:]]' then 'holds a space or a control character'
        when a.url !~* '^https?://[^/?#]+' then 'is not an absolute http or https URL'
        when a.url ~* '^https?://[^/?#]*@' then 'carries credentials'
        when a.url ~* '^http://' and not outbox.setting_on('egress.allow_http') then 'is not https'
        else outbox.authority_problem(a.url)
      end as problem
      from pg_catalog.pg_trigger t
      cross join lateral (
        select pg_catalog.convert_from(pg_catalog.decode(
          (pg_catalog.regexp_match(pg_catalog.encode(t.tgargs, 'hex'),
            '^((?:[1-9a-f].|0[1-9a-f])*)00'))[1], 'hex'),
          pg_catalog.getdatabaseencoding()) as url
      ) a
      where t.tgfoid = pg_catalog.to_regprocedure('supabase_functions.http_request()')
        and t.tgparentid = 0
    ) u),
  'header_problems', (
    select coalesce(pg_catalog.jsonb_object_agg(h.id, h.problems), '{}')
    from (
      select t.oid::bigint as id,
        pg_catalog.jsonb_object_agg(h.key, outbox.header_problem(h.key, h.value)) as problems
      from pg_catalog.pg_trigger t
      cross join lateral (
        select (pg_catalog.array_agg(pg_catalog.convert_from(pg_catalog.decode(m.part[1], 'hex'),
          pg_catalog.getdatabaseencoding()) order by m.place))[3] as headers
        from pg_catalog.regexp_matches(pg_catalog.encode(t.tgargs, 'hex'),
          '((?:[1-9a-f].|0[1-9a-f])*)00', 'g') with ordinality m (part, place)
      ) a
      cross join lateral pg_catalog.jsonb_each(nullif(a.headers, 'null')::jsonb) h
      where t.tgfoid = pg_catalog.to_regprocedure('supabase_functions.http_request()')
        and t.tgparentid = 0 and outbox.header_problem(h.key, h.value) is not null
      group by t.oid
    ) h)
) as found;
