-- A gate that the database refuses to park while its first delivery is created: it is due after the refusal.
begin;
\ir ../../_helpers.sql
select plan(4);

create temporary table made as select endpoint() as a, endpoint() as b;
create function refuse() returns trigger language plpgsql as $$
begin
  raise exception 'this gate stays';
end
$$;
do $$ begin
  execute format('create trigger poison before update on outbox.gate for each row
    when (old.next_at is distinct from new.next_at and new.endpoint_id = %L) execute function helper.refuse()', (select a from made));
end $$;

select events(1);
select is(claimed(step(), b), 1, 'another endpoint is served') from made;
drop trigger poison on outbox.gate;
select time_passes('9 s'), outbox.tick();
select is(claimed(step(), a), 0, 'the refused one is left out for 10 s') from made;
select time_passes('1 s'), outbox.tick();
select is(claimed(step(), a), 1, 'then it is due, although nothing else has changed it') from made;
select is_empty('select * from outbox.endpoint_refusal', 'the refusal is gone');

select * from finish();
rollback;
