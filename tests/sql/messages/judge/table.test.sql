-- What a message is, by the states of two and three attempts: a table that was written by hand, in every order of the attempts.
begin;
\ir ../../_helpers.sql
select plan(7);

create temporary table expected (states text, with_retry text, without_retry text, after_failed text);
-- The columns: a retry waits or is under way; none is left; the message was FAILED before.
insert into expected values
  ('open open', 'SENDING', 'SENDING', 'FAILED'),
  ('open refused', 'SENDING', 'SENDING', 'FAILED'),
  ('open accepted', 'SENT', 'SENT', 'SENT'),
  ('open arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('open failed', 'SENDING', 'SENDING', 'FAILED'),
  ('refused refused', 'QUEUED', 'FAILED', 'FAILED'),
  ('refused accepted', 'SENT', 'SENT', 'SENT'),
  ('refused arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('refused failed', 'FAILED', 'FAILED', 'FAILED'),
  ('accepted accepted', 'SENT', 'SENT', 'SENT'),
  ('accepted arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('accepted failed', 'SENT', 'SENT', 'SENT'),
  ('arrived arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('arrived failed', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('failed failed', 'FAILED', 'FAILED', 'FAILED'),
  ('open open open', 'SENDING', 'SENDING', 'FAILED'),
  ('open open refused', 'SENDING', 'SENDING', 'FAILED'),
  ('open open accepted', 'SENT', 'SENT', 'SENT'),
  ('open open arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('open open failed', 'SENDING', 'SENDING', 'FAILED'),
  ('open refused refused', 'SENDING', 'SENDING', 'FAILED'),
  ('open refused accepted', 'SENT', 'SENT', 'SENT'),
  ('open refused arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('open refused failed', 'SENDING', 'SENDING', 'FAILED'),
  ('open accepted accepted', 'SENT', 'SENT', 'SENT'),
  ('open accepted arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('open accepted failed', 'SENT', 'SENT', 'SENT'),
  ('open arrived arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('open arrived failed', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('open failed failed', 'SENDING', 'SENDING', 'FAILED'),
  ('refused refused refused', 'QUEUED', 'FAILED', 'FAILED'),
  ('refused refused accepted', 'SENT', 'SENT', 'SENT'),
  ('refused refused arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('refused refused failed', 'FAILED', 'FAILED', 'FAILED'),
  ('refused accepted accepted', 'SENT', 'SENT', 'SENT'),
  ('refused accepted arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('refused accepted failed', 'SENT', 'SENT', 'SENT'),
  ('refused arrived arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('refused arrived failed', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('refused failed failed', 'FAILED', 'FAILED', 'FAILED'),
  ('accepted accepted accepted', 'SENT', 'SENT', 'SENT'),
  ('accepted accepted arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('accepted accepted failed', 'SENT', 'SENT', 'SENT'),
  ('accepted arrived arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('accepted arrived failed', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('accepted failed failed', 'SENT', 'SENT', 'SENT'),
  ('arrived arrived arrived', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('arrived arrived failed', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('arrived failed failed', 'DELIVERED', 'DELIVERED', 'DELIVERED'),
  ('failed failed failed', 'FAILED', 'FAILED', 'FAILED');

-- Every sequence of two or three states, each with its line of the table.
create temporary table combination as
with state (s) as (values ('open'), ('refused'), ('accepted'), ('arrived'), ('failed')),
sequence as (
  select array[a.s, b.s] as states from state a, state b
  union all select array[a.s, b.s, c.s] from state a, state b, state c
)
select q.states, e.with_retry, e.without_retry, e.after_failed from sequence q left join expected e on
  (select array_agg(s order by s) from unnest(q.states) s) = (select array_agg(s order by s) from unnest(string_to_array(e.states, ' ')) s);
select is((select count(*) from combination where with_retry is not null), 150::bigint, 'the table has every combination of two and three states');
select is_empty($$select states from combination c, unnest(array['QUEUED', 'SENDING', 'SENT', 'DELIVERED']) was
  where outbox.judge(was, c.states, true) is distinct from c.with_retry$$, 'while a retry waits, the message is what the table says');
select is_empty($$select states from combination c, unnest(array['QUEUED', 'SENDING', 'SENT', 'DELIVERED']) was
  where outbox.judge(was, c.states, false) is distinct from c.without_retry$$, 'and without a retry');
select is_empty($$select states from combination c, unnest(array[true, false]) retry
  where outbox.judge('FAILED', c.states, retry) is distinct from c.after_failed$$, 'and after it has failed');
select is_empty($$select states from combination c, unnest(array[true, false]) retry
  where outbox.judge('CANCELLED', c.states, retry) is distinct from 'CANCELLED'$$, 'CANCELLED stays');

-- The state of an attempt, by its status and times.
create function state_of(p_status text, p_times text, p_is_current boolean default true) returns text language sql as $$
  select outbox.attempt_outcome(jsonb_populate_record(null::outbox.message_attempt, jsonb_build_object('status', p_status)
    || coalesce((select jsonb_object_agg(t || '_at', '2026-03-01') from unnest(string_to_array(p_times, ' ')) t), '{}')), p_is_current)
$$;
select results_eq($$select s, t, state_of(s, t) from (values (1, 'TRYING', ''), (2, 'FAILED', ''), (3, 'SUCCESS', ''), (4, 'SUCCESS', 'sent'), (5, 'SUCCESS', 'delivered'),
    (6, 'SUCCESS', 'read'), (7, 'SUCCESS', 'sent delivered read'), (8, 'FAILED', 'failed'), (9, 'FAILED', 'sent failed')) v (n, s, t) order by n$$,
  $$values ('TRYING', '', 'open'), ('FAILED', '', 'refused'), ('SUCCESS', '', 'accepted'), ('SUCCESS', 'sent', 'accepted'), ('SUCCESS', 'delivered', 'arrived'),
    ('SUCCESS', 'read', 'arrived'), ('SUCCESS', 'sent delivered read', 'arrived'), ('FAILED', 'failed', 'failed'), ('FAILED', 'sent failed', 'failed')$$,
  'each attempt is in one state');
select results_eq($$select t, state_of(s, t, false) from (values (1, 'FAILED', 'failed'), (2, 'SUCCESS', 'sent'), (3, 'SUCCESS', 'read')) v (n, s, t) order by n$$,
  $$values ('failed', 'refused'), ('sent', 'accepted'), ('read', 'arrived')$$, 'of an attempt before a resend, only its failure does not count');

select * from finish();
rollback;
