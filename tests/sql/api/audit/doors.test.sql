-- Modules: sagas, inbox, watch, brokers, messages
-- Each function that service_role may execute, and that may change something, writes into the audit trail, or a line here
-- says why not. The rows themselves are in actions, messages/audit/lines and sagas/define_saga.
begin;
set local search_path = public, extensions;
select plan(4);

-- Which function calls which, by the texts of their bodies.
create temporary table calls as
select distinct p.proname as caller, m[1]::name as callee
from pg_proc p, regexp_matches(p.prosrc, 'outbox\.(\w+)\s*\(', 'g') m
where p.pronamespace = 'outbox'::regnamespace;
create temporary table writes as
with recursive reached (name) as (
  select n from unnest(array['note_action', 'audit']::name[]) n
  union
  select c.caller from reached r join calls c on c.callee = r.name
)
select name from reached;
create temporary table door as
select distinct p.proname as name from pg_proc p
where p.pronamespace = 'outbox'::regnamespace and p.provolatile = 'v' and has_function_privilege('service_role', p.oid, 'execute');

create temporary table without as
select n::name as name, w.why
from (values
  ('It publishes an event, which is a row.', 'publish publish_many publish_raw publish_events send_test_event test_org_endpoint'),
  ('It is the inbox of a consumer, which has a row for each event.', 'consume accept_once publish_once take_events'),
  ('The execution of a saga has rows of its own.', 'begin_saga run_step end_saga execute_saga execute_org_saga'),
  ('Its own table says who called it.', 'mark_delivered'),
  ('It is called by runs and programs, for no person.', 'claim_broker_replay record_broker_replay report_dead_message count_callbacks count_requests take_requests'),
  ('It changes nothing.', 'calculate_delay')
) w (why, names), regexp_split_to_table(w.names, ' ') n;

select is((select string_agg(d.name, ' ' order by d.name) from door d where d.name not in (select name from writes) and d.name not in (select name from without)), null,
  'no function is without a row in the audit trail and without a reason');
select is((select string_agg(w.name, ' ' order by w.name) from without w where w.name not in (select name from door)), null, 'each reason is of a function');
select is((select string_agg(w.name, ' ' order by w.name) from without w join writes x using (name)), null, 'that has no row');
select cmp_ok((select count(*) from door join writes using (name)), '>', 60::bigint, 'and more than 60 have one');

select * from finish();
rollback;
