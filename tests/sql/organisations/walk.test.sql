-- What belongs to another organisation does not exist: every door that takes something of an organisation, with
-- another's at each position. The other's rows are the same afterwards, and no answer tells of them.
begin;
\ir ../_helpers.sql
\ir ../_engine.sql
\ir ../_messages.sql
\ir _tenants.sql
\ir _belongings.sql
\ir _walk.sql
set local search_path = helper, extensions, pg_temp;

select plan(19);

-- The walk is complete.
create temporary view door as
  select p.oid, p.proname, p.proargnames[1:p.pronargs] as names from pg_proc p
  where p.pronamespace = 'outbox'::regnamespace and has_function_privilege('service_role', p.oid, 'execute');
select is_empty(
  $$ select proname from door where proname not in (select function from call) and proname not in (select name from plain_function) $$,
  'every door is walked, or it is said why not');
select is_empty(
  $$ select function from call where function not in (select proname from door)
     union all select name from plain_function where name not in (select proname from door) or name in (select function from call)
     union all select name from plain_parameter where name not in (select unnest(names) from door) $$,
  'and nothing else is');
select is_empty(
  $$ select d.proname, a from door d, unnest(d.names) a
     where d.proname not in (select name from plain_function)
       and a not in (select name from plain_parameter)
       and not exists (select from call c where c.function = d.proname and c.text ~ (a || ' => ((?!, p_).)*[{](?!own)'))
       -- Names that a door makes, or keys and texts of the caller's own.
       and (d.proname, a) not in (values ('put_template', 'p_name'), ('execute_saga', 'p_name'), ('execute_org_saga', 'p_name'), ('begin_saga', 'p_name'),
         ('publish', 'p_type'), ('publish_raw', 'p_type'), ('create_message', 'p_idempotency_key'), ('put_event_type', 'p_key'),
         -- A portal token has no row: an organisation can revoke any id for itself.
         ('revoke_portal_token', 'p_id'),
         -- Who calls: it is compared with the key of the caller's own organisation.
         ('create_org_endpoint', 'p_caller'),
         -- Schemas, for the application's own triggers.
         ('execute_org_saga', 'p_search_path'),
         ('callback_app', 'p_app_key'), ('receive_callbacks', 'p_app_id')) $$,
  'each parameter that names something is tried with another organisation''s');
select is((select array_agg(name order by name) from engine_table where to_regclass('outbox.' || name) is null), null, 'every table of the engine is there');
select cmp_ok((select count(*) from belonging), '>', 40::bigint, 'the rows of more than 40 tables are compared');

-- Every status that the list filters by has a delivery of the victim's.
select is(
  array(select distinct d ->> 'status' from jsonb_array_elements(outbox.list_deliveries('org-victim', p_limit => 100) -> 'data') d order by 1),
  array['cancelled', 'dead_letter', 'delivered', 'expired', 'filter_error', 'held', 'pending', 'processing', 'retrying'], 'the victim has a delivery of each status');
select is(
  array(select distinct d ->> 'status' from jsonb_array_elements(outbox.list_dead_letters('org-victim', p_limit => 100) -> 'data') d order by 1),
  array['delivered', 'discarded', 'open', 'replayed'], 'and a dead letter of each');

-- Both have subscribed to the same types, and neither has got what is the other's.
select is_empty(
  $$ select d.* from (
       select event_id, endpoint_id from outbox.delivery union all select event_id, endpoint_id from outbox.attempt where endpoint_id is not null
       union all select event_id, endpoint_id from outbox.dead_letter) d
     join outbox.event e on e.id = d.event_id join outbox.endpoint p on p.id = d.endpoint_id where e.org_id <> p.org_id $$,
  'no event went to another organisation''s endpoint');
select is_empty(
  $$ select m.id from outbox.outbound_message m join outbox.endpoint e on e.id = m.channel_id where e.org_id <> m.org_id
     union all select i.id from outbox.inbound_message i join outbox.person p on p.id = i.person_id where p.org_id <> i.org_id
     union all select i.person_id from outbox.person_identifier i join outbox.person p on p.id = i.person_id where p.org_id <> i.org_id $$,
  'nor a message to another''s channel or person');

-- The walk.
create temporary table state as select belongings('org-victim') as victim, belongings('org-visitor') as visitor;
create temporary table mark as select m from state, marks(victim) m except select m from state, marks(visitor) m;
create temporary table told (n integer, combination integer, foreign_ boolean, call text, verdict text, changed text, own_changed text, leaks text, answer text);

-- One call, undone whatever becomes of it.
create function make(p_call text, p_own boolean, out p_verdict text, out p_answer text, out p_changed text, out p_changed_own text) language plpgsql as $$
begin
  execute format('select coalesce(string_agg(x::text, %L), %L) from outbox.%s x', E'\n', '', p_call) into p_answer;
  -- A function that is not volatile cannot write: Postgres sees to it.
  if exists (select from pg_proc p where p.pronamespace = 'outbox'::regnamespace and p.proname = substring(p_call from '^\w+') and p.provolatile <> 'v') then
    raise exception using errcode = 'ZZ001';
  end if;
  select changed(s.victim, belongings('org-victim')), case when p_own then changed(s.visitor, belongings('org-visitor')) end into p_changed, p_changed_own from state s;
  raise exception using errcode = 'ZZ001';
exception
  when sqlstate 'ZZ001' then p_verdict := 'works';
  when others then
    p_verdict := sqlstate;
    get stacked diagnostics p_answer = message_text;
end
$$;

do $$
declare
  c record;
  v_words text[];
  v_text text;
  v_given text[];
  v_made record;
begin
  for c in select * from call order by n loop
    v_words := array(select distinct m[1] from regexp_matches(c.text, '{([a-z._]+)}', 'g') m where m[1] <> 'org' order by 1);
    for v_combination in 0 .. (1 << cardinality(v_words)) - 1 loop
      -- An operator's door with the victim's things alone is the victim's own call.
      continue when v_combination = (1 << cardinality(v_words)) - 1 and v_combination > 0 and strpos(c.text, '{org}') = 0;
      continue when c.text like '%/* together */' and v_combination not in (0, (1 << cardinality(v_words)) - 1);
      v_text := replace(c.text, '{org}', quote_literal('org-visitor'));
      v_given := '{}';
      for v_at in 1 .. cardinality(v_words) loop
        v_text := replace(v_text, '{' || v_words[v_at] || '}', quote_literal(got(
          case when v_combination >> (v_at - 1) & 1 = 1 then 'org-victim' else 'org-visitor' end, v_words[v_at])));
        v_given := v_given || got('org-victim', v_words[v_at]);
      end loop;
      while v_text ~ '{own ' loop
        v_text := replace(v_text, substring(v_text from '{own [a-z._]+}'), got('org-visitor', substring(v_text from '{own ([a-z._]+)}')));
      end loop;
      select * into v_made from make(v_text, v_combination = 0);
      insert into told values (c.n, v_combination, v_combination > 0, v_text, v_made.p_verdict, v_made.p_changed, v_made.p_changed_own,
        (select string_agg(m.m, ' ') from mark m
         where strpos(v_made.p_answer, m.m) > 0 and not exists (select from unnest(v_given) g where strpos(g, m.m) > 0)), v_made.p_answer);
    end loop;
  end loop;
end
$$;

select is_empty($$ select t.call, t.verdict, t.answer from told t join call c using (n) where not t.foreign_ and t.verdict <> c.own $$,
  'each call does what it should with one''s own things');
select is_empty($$ select t.call, t.verdict, t.answer from told t join call c using (n) where t.foreign_ and t.verdict <> coalesce(c.foreign_, 'works') $$,
  'another organisation''s thing is none, at each position');
select is_empty($$ select call, changed from told where changed is not null $$, 'whose rows are the same afterwards');
select is_empty($$ select call, leaks from told where leaks is not null $$, 'no answer tells of them');
select cmp_ok((select count(*) from told where foreign_), '>', 140::bigint, 'more than 140 calls tried it');
select is_empty(
  $$ select c.text from call c where not exists (select from told t where t.n = c.n) $$,
  'each call was made');
select cmp_ok((select count(*) from told where own_changed is not null), '>', 50::bigint, 'and more than 50 changed something of the caller''s');

-- A sum tells without naming anybody. So what an organisation reads is the same when the other one is not there at all.
create temporary table read as
  select t.call, t.answer from told t join call c using (n) join door d on d.proname = c.function join pg_proc p on p.oid = d.oid
  where not t.foreign_ and p.provolatile <> 'v' and strpos(c.text, '{org}') > 0;
do $$
declare
  v_table record;
begin
  -- What others are found by goes last.
  for v_table in
    select * from belonging where condition is not null
    order by coalesce(array_position(array['outbox.gate', 'outbox.whatsapp_app', 'outbox.outbound_message', 'outbox.event', 'outbox.endpoint'], relation::text), 0)
  loop
    execute format('delete from %s t where %s', v_table.relation, replace(v_table.condition, '$1', '''org-victim'''));
  end loop;
end
$$;
select is((select count(*) from outbox.endpoint where org_id = 'org-victim') + (select count(*) from outbox.delivery d where not exists (
  select from outbox.endpoint e where e.id = d.endpoint_id)), 0::bigint, 'once nothing is the victim''s');
-- "rows" is what a list is charged for, and a page may read rows of others.
select is_empty($$ select call, answer, again from read cross join lateral (select (make(call, false)).p_answer as again) a
  where regexp_replace(answer, '"rows": \d+', '', 'g') is distinct from regexp_replace(again, '"rows": \d+', '', 'g') $$,
  'everybody else reads what they read before');
select cmp_ok((select count(*) from read), '>', 70::bigint, 'in more than 70 calls');
select * from finish();
rollback;
