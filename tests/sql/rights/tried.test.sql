-- The rights, tried: each role does to each object what its kind allows, and is let or refused as _decisions.sql says.
begin;
\ir _decisions.sql
set local search_path = public, extensions;

-- One statement for each object and privilege. None of them changes a row, and each is undone.
create function pg_temp.columns(p_relation regclass) returns text language sql stable as $$
  select quote_ident(attname) from pg_attribute
  where attrelid = p_relation and attnum > 0 and not attisdropped and attidentity = '' and attgenerated = '' order by attnum limit 1
$$;
create temporary table trial as
  select 'relation' as kind, case when c.relispartition then regexp_replace(c.relname, '_p\d{8}$', '_p*') else c.relname end as name,
    p.privilege, format(p.statement, c.oid::regclass, pg_temp.columns(c.oid)) as statement
  from pg_class c
  cross join (values
    ('SELECT', 'select %2$s from %1$s where false', 'rpv'), ('INSERT', 'insert into %1$s (%2$s) select null where false', 'rp'),
    ('UPDATE', 'update %1$s set %2$s = %2$s where false', 'rp'), ('DELETE', 'delete from %1$s where false', 'rp'),
    ('TRUNCATE', 'truncate %1$s', 'rp')
  ) p (privilege, statement, kinds)
  where c.relnamespace = 'outbox'::regnamespace and strpos(p.kinds, c.relkind::text) > 0
  union all
  select 'relation', v, 'INSERT', format('insert into outbox.%I (event_type) select null where false', v) from unnest('{webhook_outbox,saga_outbox,transaction_outbox}'::text[]) v
  union all
  select 'sequence', c.relname, p.privilege, format(p.statement, c.oid::regclass)
  from pg_class c
  cross join (values ('SELECT', 'select last_value from %s'), ('USAGE', 'select nextval(%L)'), ('UPDATE', 'select setval(%L, 5)')) p (privilege, statement)
  where c.relnamespace = 'outbox'::regnamespace and c.relkind = 'S'
  union all
  -- A bare null would let the planner drop the call of a strict function, right and all.
  select 'function', p.proname, 'EXECUTE', format('select %s(%s)', p.oid::regproc,
    (select string_agg('(select null::' || format_type(t, null) || ')', ', ' order by place) from unnest(p.proargtypes::oid[]) with ordinality a (t, place)))
  from pg_proc p where p.pronamespace = 'outbox'::regnamespace and p.prorettype <> 'trigger'::regtype;
insert into trial values
  ('schema', 'outbox', 'CREATE', 'create table outbox.theirs ()'),
  ('schema', 'outbox', 'USAGE', $$ select 'outbox.event'::regclass $$);

-- What became of a statement of a role: 'refused' for want of a right, or 'let', whatever else it ran into.
create function pg_temp.try(p_role text, p_statement text) returns text language plpgsql as $$
declare
  v_message text;
begin
  begin
    perform set_config('role', p_role, true);
    execute p_statement;
    raise exception using errcode = 'ZZ001';
  exception
    when insufficient_privilege then
      get stacked diagnostics v_message = message_text;
      -- A helper that refuses is the fault of a door, and grants/callable.test.sql finds it.
      return case when v_message ~ '^permission denied for ' then 'refused' else 'let' end;
    when others then
      return 'let';
  end;
end
$$;

create temporary view role as select unnest(array['anon', 'authenticated', 'authenticator', 'service_role']) as role;
create temporary view wanted as
  select r.role, t.kind, t.name, t.privilege, t.statement,
    case when exists (
      select from decided.decision d
      where d.kind = t.kind and d.name = t.name and d.privilege = t.privilege and d.role in (r.role, 'public')) then 'let' else 'refused' end as decision
  from role r cross join trial t;

select plan(8);

select cmp_ok((select count(*) from trial), '>', 700::bigint, 'there are more than 700 things to try');
select set_eq('select distinct kind || privilege from trial', $$
  values ('relationSELECT'), ('relationINSERT'), ('relationUPDATE'), ('relationDELETE'), ('relationTRUNCATE'), ('sequenceSELECT'),
    ('sequenceUSAGE'), ('sequenceUPDATE'), ('functionEXECUTE'), ('schemaCREATE'), ('schemaUSAGE') $$,
  'reading, writing, numbering, calling and making are tried');

create temporary table outcome as select w.*, pg_temp.try(w.role, w.statement) as became from wanted w;
select is_empty($$ select role, kind, name, privilege, became from outcome where became <> decision $$,
  'each role is let and refused as decided');
select set_eq($$ select role || ' ' || became from outcome where kind = 'schema' $$,
  array['anon refused', 'authenticated refused', 'authenticator refused', 'service_role let', 'service_role refused'],
  'service_role alone enters the schema, and makes nothing in it');

-- The schema's own door hides what stands behind it. With the door open, each object refuses by itself.
grant usage on schema outbox to anon, authenticated, authenticator;
create temporary table opened as
  select w.*, pg_temp.try(w.role, w.statement) as became from wanted w where w.kind <> 'schema' and w.role <> 'service_role';
select is_empty($$ select role, kind, name, privilege, became from opened where became <> decision $$,
  'each object refuses by itself, were the schema open');
select cmp_ok((select count(*) from opened where became = 'refused'), '>', 2000::bigint, 'more than 2000 times');

-- A right on a table is not a right on its rows: no policy lets anybody see one.
grant select on outbox.setting to anon;
set local role anon;
select is_empty('select name from outbox.setting', 'row level security hides every row from one who may read the table');
reset role;
select isnt_empty('select name from outbox.setting', 'which its owner sees');
select * from finish();
rollback;
