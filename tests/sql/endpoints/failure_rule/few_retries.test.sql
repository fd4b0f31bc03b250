-- Modules: messages
-- A rule that allows fewer retries than the endpoint does.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(6);

create temporary table made as select channel() as a, template() as code;
create temporary table m as select message_id(message()) as id;
create function breaks(p_code text) returns integer language sql as $$
  select fail(400, jsonb_build_object('code', p_code, 'error', 'refused'))
$$;
select is(breaks('131053'), 1, 'a link cannot be fetched');
select time_passes('5 minutes');
select is(breaks('131053'), 1, 'nor five minutes later');
select time_passes('5 minutes');
select is((row_of(id)).status, 'QUEUED', 'which is tried once more') from m;
select is(breaks('131053'), 1, 'in vain');
select is((row_of(id)).status || ' ' || (row_of(id)).error_code || ' ' || (row_of(id)).attempt_count, 'FAILED 131053 3', 'then the message fails') from m;
select is((select retry_count from outbox.dead_letter), 3, 'as a dead letter');

select * from finish();
rollback;
