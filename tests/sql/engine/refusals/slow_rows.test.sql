-- Finding the refused deliveries of an endpoint ends in time, also where each of their changes is slow: the statement
-- timeout fires only once. Work is counted in changes of rows.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(7);

create sequence changes;
create function refuse() returns trigger language plpgsql as $$
begin
  if new.leased_until is not null then
    perform pg_sleep(current_setting('helper.pause')::float8);
    raise exception 'no lease';
  end if;
  perform nextval('helper.changes');
  return new;
end
$$;
create temporary table made as select endpoint('{fast}') as fast, endpoint('{slow}') as slow;
select events(8, 'fast'), events(8, 'slow');
select step(0);
create trigger refuse before update on outbox.delivery for each row execute function refuse();

select set_config('helper.pause', '0', true);
select is(outbox.refuse_rows(fast, false, 32, outbox.clock()), 32, 'all of eight deliveries are refused at once') from made;
select is(nextval('helper.changes'), 9::bigint, 'and each of them is moved behind the others');
select is((select count(*) from outbox.refusal join made on endpoint_id = fast), 8::bigint, 'each with its refusal');

select set_config('helper.pause', '0.2', true);
select is(outbox.refuse_rows(slow, false, 32, outbox.clock()), 0, 'where that takes 1.6 s, the claim takes none in this call') from made;
select is(nextval('helper.changes'), 10::bigint, 'and no delivery is changed after that time');
select is((select count(*) from outbox.refusal join made on endpoint_id = slow), 8::bigint, 'the refusals are recorded');
select is((select count(*) from outbox.delivery d join made on d.endpoint_id = slow where not exists (
  select from unnest(outbox.rows_to_lease(slow, false, 32, outbox.clock())) r where r.event_id = d.event_id)), 8::bigint, 'so that the next claim leaves them out');

select * from finish();
rollback;
