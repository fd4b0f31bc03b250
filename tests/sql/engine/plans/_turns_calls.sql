-- Calls what _turns lists, in statements of their own, because a step of the tick ends at the deadline of its statement.
select s.text
from (
  select p.n as part, 1 as phase, 0 as n, format('select prepare(%L, %s)', p.relation, p.rows) as text from part p
  union all
  select c.part, 2 * f.phase, c.n, format('select measured(%L, %L, %L, %s)', c.statement || f.said, 'select ' || c.statement, c.result, c.most)
  from call c, (values (1, ', old statistics'), (2, ', fresh statistics')) f (phase, said)
  union all
  select p.n, 3, 0, format('analyze outbox.%I%s', p.relation, p.others) from part p
  union all
  select p.n, 3, 1, 'select time_passes(''1 s'')' from part p
  union all
  select 2, 5, 0, 'delete from outbox.waiting_part where true'
  union all
  select 4, 5, 0, 'update outbox.replay_job set status = ''running'' where id in (select max(j.id) from outbox.replay_job j group by j.org_id)'
) s
order by s.part, s.phase, s.n
\gexec
