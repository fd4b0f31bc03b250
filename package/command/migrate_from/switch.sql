-- Replaces Database Webhooks of one table, in one transaction. The lock on the table waits for open
-- transactions that have written to it, and later writes wait for this one: each write calls either
-- the old triggers or the new one. The values of headers and parameters are read from the triggers,
-- so they are in no file. The old triggers stay, disabled: undo.sql enables them again.
do $migrate$
declare
  v_plan constant jsonb := {plan};
  v_table regclass;
  v_one jsonb;
  v_version text;
  v_args text[];
  v_url text;
  v_endpoint uuid;
  v_comment text;
  v_other regclass;
begin
  perform pg_catalog.set_config('lock_timeout', v_plan ->> 'lock_timeout_ms', true);
  -- One change at a time: two tables must not get the same event types.
  perform pg_catalog.pg_advisory_xact_lock('outbox.publish_row()'::regprocedure::oid::bigint);
  v_table := pg_catalog.format('%I.%I', v_plan ->> 'schema', v_plan ->> 'table')::regclass;
  execute pg_catalog.format('lock table %s in share row exclusive mode', v_table);
  if v_plan -> 'watch_versions' is distinct from (
    select coalesce(pg_catalog.jsonb_agg(t.oid || ':' || t.xmin order by t.oid), '[]')
    from pg_catalog.pg_trigger t
    where t.tgrelid = v_table and t.tgparentid = 0
      and t.tgfoid in ('outbox.publish_row()'::regprocedure, 'outbox.publish_rows()'::regprocedure,
        'outbox.publish_moves()'::regprocedure, 'outbox.name_columns()'::regprocedure))
  then
    raise exception
      'the watch of the table was changed after the plan was made: run the command again';
  end if;
  select t.tgrelid into v_other
  from pg_catalog.pg_trigger t
  cross join lateral (select outbox.watch_of(t.tgargs) ->> 'type' as type offset 0) w
  cross join lateral pg_catalog.unnest(array['inserted', 'updated', 'deleted']) o
  where t.tgrelid <> v_table and t.tgparentid = 0
    and t.tgfoid in ('outbox.publish_row()'::regprocedure, 'outbox.publish_rows()'::regprocedure)
    and v_plan -> 'types' ? pg_catalog.replace(w.type, '{op}', o)
  limit 1;
  if found then
    raise exception 'the table % has events of the same types: run the command again', v_other;
  end if;
  for v_one in select w.value from pg_catalog.jsonb_array_elements(v_plan -> 'webhooks') w loop
    select t.oid || ':' || t.xmin, (
      select pg_catalog.array_agg(
        pg_catalog.convert_from(pg_catalog.decode(m.part[1], 'hex'),
          pg_catalog.getdatabaseencoding()) order by m.place)
      from pg_catalog.regexp_matches(pg_catalog.encode(t.tgargs, 'hex'),
        '((?:[1-9a-f].|0[1-9a-f])*)00', 'g') with ordinality m (part, place)),
      pg_catalog.obj_description(t.oid, 'pg_trigger')
    into v_version, v_args, v_comment
    from pg_catalog.pg_trigger t
    where t.tgrelid = v_table and t.tgname = v_one ->> 'name';
    if v_version is distinct from v_one ->> 'version' then
      raise exception 'the webhook % was changed after the plan was made: run the command again',
        v_one ->> 'name';
    end if;
    select v_args[1] || coalesce(
      case when pg_catalog.strpos(v_args[1], '?') > 0 then '&' else '?' end
      || pg_catalog.string_agg(encoded.name || '=' || encoded.value, '&'), '')
    into v_url
    from (
      select pg_catalog.max(x.text) filter (where x.what = 1) as name,
        pg_catalog.max(x.text) filter (where x.what = 2) as value
      from pg_catalog.jsonb_each_text(nullif(v_args[4], 'null')::jsonb) p
      cross join lateral (
        select part.what, coalesce(pg_catalog.string_agg(
          case
            when letter.c ~ '^[A-Za-z0-9_.~-]$' then letter.c
            else pg_catalog.upper(pg_catalog.regexp_replace(pg_catalog.encode(
              pg_catalog.convert_to(letter.c, 'UTF8'), 'hex'), '(..)', '%\1', 'g'))
          end, '' order by letter.place), '') as text
        from (values (1, p.key), (2, p.value)) part (what, text)
        cross join lateral pg_catalog.regexp_split_to_table(part.text, '')
          with ordinality letter (c, place)
        group by part.what
      ) x
      group by p.key
    ) encoded;
    v_endpoint := (outbox.create_endpoint(
      v_url,
      array(select pg_catalog.jsonb_array_elements_text(v_one -> 'event_types')),
      p_org_id => v_plan ->> 'org_id',
      p_description => v_one ->> 'description',
      p_payload => 'data',
      p_timeout_ms => greatest((v_one ->> 'timeout_ms')::integer,
        outbox.setting_int('endpoint.timeout_ms')),
      p_headers => (
        select coalesce(pg_catalog.jsonb_object_agg(h.key, h.value), '{}')
        from pg_catalog.jsonb_each(nullif(v_args[3], 'null')::jsonb) h
        where v_one -> 'headers' ? h.key)) ->> 'id')::uuid;
    execute pg_catalog.format('alter table %s disable trigger %I', v_table, v_one ->> 'name');
    execute pg_catalog.format('comment on trigger %I on %s is %L', v_one ->> 'name', v_table,
      pg_catalog.format('Replaced by the Outhook endpoint %s for %s', v_endpoint, (
        select pg_catalog.string_agg(e.type, ' ')
        from pg_catalog.jsonb_array_elements_text(v_one -> 'event_types') e (type)))
        -- A comment of an earlier replacement is none of the user's.
        || coalesce(E'\n' || nullif(pg_catalog.regexp_replace(v_comment,
          '^Replaced by the Outhook endpoint [^\n]*\n?', ''), ''), ''));
  end loop;
  if v_plan -> 'watch' <> 'null' then
    perform outbox.watch_table(v_table, v_plan -> 'watch' ->> 'type',
      p_org_id => v_plan ->> 'org_id',
      p_changed => case when v_plan -> 'watch' -> 'changed' <> 'null' then
        array(select pg_catalog.jsonb_array_elements_text(v_plan -> 'watch' -> 'changed')) end,
      p_operations =>
        array(select pg_catalog.jsonb_array_elements_text(v_plan -> 'watch' -> 'operations')));
    -- For undo.sql: a watch that the application makes again has no comment.
    execute pg_catalog.format('comment on trigger outhook_row on %s is %L', v_table,
      'Created by outhook migrate-from database-webhooks');
  end if;
end
$migrate$;
