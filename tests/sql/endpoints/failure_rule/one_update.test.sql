-- One UPDATE changes what a code means, from the next result on.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(15);

create temporary table made as select endpoint() as id;
create temporary table event (n integer, id uuid);

select is(outbox.is_retryable('webhook', 404, 'status'), false, 'as it comes, 404 is not retried');
insert into event select 1, (events(1))[1];
select fail(404);
select is(status_of(e.id, m.id), 'dead_letter', 'and makes a dead letter at once') from event e, made m where n = 1;
select is(attempts(e.id, m.id), '1 failed, 1 closed as dead_letter', 'with one try') from event e, made m where n = 1;
select is((select why from outbox.dead_letter), 'not_retryable', 'which says why');

update outbox.failure_rule set action = 'retry', min_delay_s = 90 where kind = '*' and code = '4xx';
select is(outbox.is_retryable('webhook', 404, 'status'), true, 'after one UPDATE 404 is retried');
insert into event select 2, (events(1))[1];
select fail(404);
select is(status_of(e.id, m.id), 'retrying', 'by the next result on') from event e, made m where n = 2;
select is((select next_retry_at - at from outbox.attempt join event e on e.id = event_id where n = 2), interval '90 s',
  'after the delay that the rule wants');

update outbox.failure_rule set action = 'fail' where kind = '*' and code = '5xx';
insert into event select 3, (events(1))[1];
select fail(502);
select is(status_of(e.id, m.id), 'dead_letter', '5xx likewise, the other way') from event e, made m where n = 3;
select fail(503);
update outbox.failure_rule set action = 'hold', title = 'Nobody pays for this endpoint' where kind = '*' and code = '408';
insert into event select 4, (events(1))[1];
select fail(408);
select is(status_of(e.id, m.id), 'held', 'hold disables the endpoint and keeps the delivery') from event e, made m where n = 4;
select is((select status from outbox.endpoint where id = m.id), 'disabled', 'the endpoint is disabled') from made m;
select is(refusal($$update outbox.failure_rule set action = 'ignore' where kind = '*' and code = '408'$$),
  '23514 new row for relation "failure_rule" violates check constraint "failure_rule_action_is_known" (without a hint)',
  'an action that is none is refused');
select is(refusal($$update outbox.failure_rule set min_delay_s = 604801 where kind = '*' and code = '408'$$),
  '23514 new row for relation "failure_rule" violates check constraint "failure_rule_min_delay_is_sensible" (without a hint)',
  'a delay beyond a week is refused');
select is_empty('select from outbox.failure_rule where title = ''''', 'every rule has a title');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
