-- What no job may leave behind at the end of a night: see Behind in figures.ts.
select
  (select count(*)::integer from outbox.unrouted) as unrouted,
  coalesce((
    select extract(epoch from outbox.clock() - min(g.next_at)) from outbox.gate g
    where g.next_at < outbox.clock() and g.depth > 0), 0)::float8 as overdue_s,
  array(
    select s.name from outbox.cleanup_step s
    left join outbox.cleanup_progress p on p.name = s.name
    where p.done_on is distinct from (outbox.clock() at time zone 'UTC')::date or p.error is not null
    order by s.name) as cleanup,
  (select min(ahead) from (
    select extract(day from max(p.until) - outbox.clock())::integer as ahead
    from (values ('event'), ('attempt')) t (name), outbox.partitions(t.name) p group by t.name) a) as days_ahead,
  (select count(*)::integer from outbox.event_default) + (select count(*)::integer from outbox.attempt_default) as in_default,
  array(select task || ': ' || member || ': ' || error from outbox.upkeep_refusal order by 1) as refused,
  (select count(*)::integer from outbox.counter_change) as unfolded
