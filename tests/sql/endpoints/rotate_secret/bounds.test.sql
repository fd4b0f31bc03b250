-- How long a replaced secret may sign on.
begin;
\ir ../../_helpers.sql
select plan(3);

create temporary table made as select endpoint() as id;
select is(refusal(format('select outbox.rotate_secret(%L, p_overlap => ''30 days'')', id)), 'accepted', 'for 30 days') from made;
select is(refusal(format('select outbox.rotate_secret(%L, p_overlap => ''30 days 1 second'')', id)), 'OH001 overlap is ''30 days 00:00:01''', 'and no second longer') from made;
select is(refusal(format('select outbox.rotate_secret(%L, p_overlap => ''-1 second'')', id)), 'OH001 overlap is ''-00:00:01''', 'nor less than not at all') from made;

select * from finish();
rollback;
