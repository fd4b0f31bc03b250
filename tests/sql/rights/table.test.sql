-- Every object of the schema x every role x every privilege, compared whole with _decisions.sql.
begin;
\ir _decisions.sql
set local search_path = public, extensions;

-- Tables, views, sequences and functions have one name each; a partition goes by its pattern.
create temporary view object as
  select case c.relkind when 'S' then 'sequence' else 'relation' end as kind, c.oid,
    case when c.relispartition then regexp_replace(c.relname, '_p\d{8}$', '_p*') else c.relname end as name,
    c.relowner as owner, coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner)) as acl,
    acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner) as whole
  from pg_class c where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
  union all
  select 'function', p.oid, p.proname, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner)), acldefault('f', p.proowner)
  from pg_proc p where p.pronamespace = 'outbox'::regnamespace
  union all
  select 'schema', n.oid, n.nspname, n.nspowner, coalesce(n.nspacl, acldefault('n', n.nspowner)), acldefault('n', n.nspowner)
  from pg_namespace n where n.oid = 'outbox'::regnamespace
  union all
  -- Row types and arrays follow their table or element.
  select 'type', t.oid, t.typname, t.typowner, coalesce(t.typacl, acldefault('T', t.typowner)), acldefault('T', t.typowner)
  from pg_type t left join pg_class c on c.oid = t.typrelid
  where t.typnamespace = 'outbox'::regnamespace and t.typelem = 0 and (c.oid is null or c.relkind = 'c');

-- Every privilege that this version of Postgres knows for a kind.
create temporary view privilege as
  select distinct o.kind, a.privilege_type as privilege from object o cross join aclexplode(o.whole) a;

-- A superuser may do everything, and no grant changes that.
create temporary view actor as
  select r.rolname as role from pg_roles r where not r.rolsuper union all select 'public';

create function pg_temp.may(p_role text, p_kind text, p_oid oid, p_privilege text) returns boolean language sql stable as $$
  select case p_kind
    when 'relation' then has_table_privilege(p_role, p_oid, p_privilege)
    when 'sequence' then has_sequence_privilege(p_role, p_oid, p_privilege)
    when 'function' then has_function_privilege(p_role, p_oid, p_privilege)
    when 'schema' then has_schema_privilege(p_role, p_oid, p_privilege)
    when 'type' then has_type_privilege(p_role, p_oid, p_privilege)
  end
$$;

-- What the roles of Postgres itself may do in any schema. A new one shows up as a difference.
create temporary table built_in (role text, kind text, privilege text);
insert into built_in values
  ('pg_read_all_data', 'relation', 'SELECT'), ('pg_read_all_data', 'sequence', 'SELECT'), ('pg_read_all_data', 'schema', 'USAGE'),
  ('pg_write_all_data', 'relation', 'INSERT'), ('pg_write_all_data', 'relation', 'UPDATE'), ('pg_write_all_data', 'relation', 'DELETE'),
  ('pg_write_all_data', 'sequence', 'UPDATE'), ('pg_write_all_data', 'schema', 'USAGE'), ('pg_maintain', 'relation', 'MAINTAIN');

create temporary table allowed as
  select a.role, o.kind, o.name, p.privilege
  from object o join privilege p using (kind) cross join actor a
  where pg_temp.may(a.role, o.kind, o.oid, p.privilege);

create temporary table expected as
  select a.role, o.kind, o.name, p.privilege
  from object o join privilege p using (kind) cross join actor a
  where a.role = 'postgres'
    or exists (
      select from decided.decision d
      where d.kind = o.kind and d.name = o.name and d.privilege = p.privilege and d.role in (a.role, 'public'))
    or exists (select from built_in b where b.role = a.role and b.kind = o.kind and b.privilege = p.privilege);

select plan(11);

select set_eq('select kind, name from object', 'select kind, name from decided.object',
  'every object has a decision, and every decision has its object');
select is_empty('select * from allowed except all select * from expected', 'nobody may do what no decision allows');
select is_empty('select * from expected except all select * from allowed', 'everybody may do what a decision allows');
select is((select string_agg(distinct kind, ' ' order by kind) from allowed), 'function relation schema sequence type',
  'every kind was compared');
select is_empty('select role, privilege from decided.decision where role not in (select role from actor)',
  'every role of a decision is there');
select is_empty(
  $$ select d.kind, d.name, d.privilege from decided.decision d where (d.kind, d.privilege) not in (select kind, privilege from privilege) $$,
  'every privilege of a decision is one of its kind');
select is_empty(
  $$ select o.name, a.grantee::regrole, a.privilege_type from object o cross join aclexplode(o.acl) a
     where a.is_grantable and a.grantee <> o.owner $$,
  'nobody may pass a right on');
select is_empty(
  $$ select a.attrelid::regclass, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'outbox'::regnamespace and a.attacl is not null $$,
  'no right is given column by column');
select is_empty(
  $$ select defaclobjtype from pg_default_acl
     where defaclnamespace = 'outbox'::regnamespace or (defaclrole = 'postgres'::regrole and defaclnamespace = 0) $$,
  'no default gives rights on what is made later');
-- Who may take which role: a membership gives what the table above refuses.
select set_eq(
  $$ select m.member::regrole::text || ' as ' || m.roleid::regrole from pg_auth_members m
     where m.member in ('anon'::regrole, 'authenticated'::regrole, 'service_role'::regrole, 'authenticator'::regrole) $$,
  array['authenticator as anon', 'authenticator as authenticated', 'authenticator as service_role'],
  'of the roles of the platform, authenticator alone takes another role, and none takes the owner''s');
select is_empty(
  $$ select rolname from pg_roles
     where rolname in ('anon', 'authenticated', 'service_role', 'authenticator')
       and (rolsuper or rolcreaterole or rolcreatedb or rolbypassrls and rolname <> 'service_role') $$,
  'none of them may make roles or databases, and service_role alone is above row level security');
select * from finish();
rollback;
