-- General rules for everything in the schema outbox. What each single function may do is compared
-- with functions.expected.txt; these hold for all of them, the ones to come included.
begin;
select plan(12);

create temporary view outbox_function as
  select p.oid, p.oid::regprocedure::text as name, p.proname, p.proconfig, p.proowner, p.prosecdef,
    p.prolang
  from pg_proc p where p.pronamespace = 'outbox'::regnamespace;

create temporary view outbox_relation as
  select c.oid, c.oid::regclass::text as name, c.relkind, c.relowner, c.relrowsecurity, c.reloptions
  from pg_class c
  where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S');

-- What the API roles may execute: nothing yet.
create temporary table open_function (name text, role text);

select isnt_empty('select from outbox_function', 'there are functions to look at');
select isnt_empty('select from outbox_relation', 'there are relations to look at');

select is_empty(
  $$ select name from outbox_function
     where not coalesce('search_path=""' = any (proconfig), false) $$,
  'every function sets search_path to nothing');

select is_empty(
  $$ select proname from outbox_function group by proname having count(*) > 1 $$,
  'no function is overloaded: the API could not tell which one is meant');

select is_empty(
  $$ select f.name, r.role
     from outbox_function f, unnest(array['anon', 'authenticated']) as r(role)
     where has_function_privilege(r.role, f.oid, 'execute')
       and (f.name, r.role) not in (select o.name, o.role from open_function o) $$,
  'anon and authenticated may execute only what is listed, through PUBLIC neither');

select is_empty(
  $$ select name from outbox_function where obj_description(oid, 'pg_proc') is null $$,
  'every function has a comment');

select is_empty(
  $$ select name from outbox_relation
     where relkind in ('r', 'p', 'v', 'm') and obj_description(oid, 'pg_class') is null
       and oid not in (select inhrelid from pg_inherits) $$,
  'every table and view has a comment');

select is_empty(
  $$ select name from outbox_relation where relkind in ('r', 'p') and not relrowsecurity $$,
  'every table has row level security on, partitions included');

select is_empty(
  $$ select policyname from pg_policies where schemaname = 'outbox' $$,
  'no policy opens a table');

select is_empty(
  $$ select name from outbox_relation
     where relkind = 'v'
       and not coalesce(reloptions && array['security_invoker=true', 'security_invoker=on'], false) $$,
  'every view asks for the rights of its reader');

select is_empty(
  $$ select c.name, r.role, p.privilege
     from outbox_relation c,
       unnest(array['anon', 'authenticated']) as r(role),
       unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as p(privilege)
     where c.relkind <> 'S' and has_table_privilege(r.role, c.oid, p.privilege) $$,
  'anon and authenticated have no right on any table or view');

select is_empty(
  $$ select name from outbox_function where proowner <> 'postgres'::regrole
     union all
     select name from outbox_relation where relowner <> 'postgres'::regrole $$,
  'postgres owns everything');

select * from finish();
rollback;
