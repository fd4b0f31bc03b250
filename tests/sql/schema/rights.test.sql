-- General rules for everything in the schema outbox, what is to come included. Who may do what with
-- each object is decided in ../rights/_decisions.sql.
begin;
select plan(11);

create temporary view outbox_function as
  select p.oid, p.oid::regprocedure::text as name, p.proname, p.proconfig, p.proowner, p.prosecdef,
    p.prolang
  from pg_proc p where p.pronamespace = 'outbox'::regnamespace;

create temporary view outbox_relation as
  select c.oid, c.oid::regclass::text as name, c.relkind, c.relowner, c.relrowsecurity, c.reloptions
  from pg_class c
  where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S');

select isnt_empty('select from outbox_function', 'there are functions to look at');
select isnt_empty('select from outbox_relation', 'there are relations to look at');

select is_empty(
  $$ select name from outbox_function
     where not coalesce('search_path=pg_temp' = any (proconfig), false) $$,
  'every function searches pg_catalog and then the temporary schema alone: close_new() sees to it');

-- Sorting the rows of each equal beginning of another index reads all of them before the first one comes.
select is_empty(
  $$ select name from outbox_function
     where 'enable_sort=off' = any (proconfig) and not 'enable_incremental_sort=off' = any (proconfig) $$,
  'each function that reads in the order of an index may sort in no way');

select is_empty(
  $$ select proname from outbox_function group by proname having count(*) > 1 $$,
  'no function is overloaded: the API could not tell which one is meant');

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
  $$ select name from outbox_function where proowner <> 'postgres'::regrole
     union all
     select name from outbox_relation where relowner <> 'postgres'::regrole $$,
  'postgres owns everything');

select * from finish();
rollback;
