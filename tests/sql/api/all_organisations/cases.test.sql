-- What an operator reads across organisations: dead letters page by page, and whose an event is.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(10);

create function letters(p_page jsonb) returns text language sql as $$
  select string_agg(concat(e ->> 'orgId', ' ', e ->> 'eventType'), ', ' order by o) from jsonb_array_elements(p_page -> 'data') with ordinality d (e, o)
$$;
create temporary table ours as select endpoint(p_org_id => 'org-1') as id, endpoint(p_org_id => 'org-2') as other;
create temporary table made (name text, id uuid);
do $$ begin for i in 1..3 loop
  insert into made values ('e.' || i, outbox.publish('e.' || i, '{}', case when i = 2 then 'org-2' else 'org-1' end));
  perform fail(404), time_passes('1 h');
end loop; end $$;
insert into made values ('open', outbox.publish('e.4', '{}', 'org-2'));

select is(letters(outbox.list_all_dead_letters()), 'org-1 e.3, org-2 e.2, org-1 e.1', 'newest first, of all organisations');
create temporary table page as select outbox.list_all_dead_letters(p_limit => 2) as a;
select is(letters(a), 'org-1 e.3, org-2 e.2', 'a page') from page;
select is(letters(outbox.list_all_dead_letters(p_cursor => a ->> 'nextCursor')), 'org-1 e.1', 'and the next one') from page;
select outbox.discard_dead_letter(m.id, o.id, 'seen') from made m, ours o where m.name = 'e.3';
select is(letters(outbox.list_all_dead_letters('open')), 'org-2 e.2, org-1 e.1', 'those that are open');
select is(letters(outbox.list_all_dead_letters('discarded')), 'org-1 e.3', 'those of another status');
select is(refusal($$select outbox.list_all_dead_letters('lost')$$) like 'OH001 status %', true, 'an unknown status is refused');

select is(outbox.org_of_event(id), 'org-2', 'an event is that of its organisation') from made where name = 'open';
select is(outbox.org_of_event(gen_random_uuid()), null, 'an event that is not stored is of none');
delete from outbox.event e using made m where e.id = m.id and m.name = 'e.2';
select is(outbox.org_of_event(id), 'org-2', 'or that of its dead letter') from made where name = 'e.2';
select is(has_function_privilege('authenticated', 'outbox.list_all_dead_letters(text, text, integer)', 'execute'), false, 'no user may read them');

select * from finish();
rollback;
