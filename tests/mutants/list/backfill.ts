import type { Mutant } from '../mutant.ts'

const kept = 'sql/operations/backfill_events/kept.test.sql'
const rows = 'sql/watch/backfill/rows.test.sql'
const steps = 'sql/watch/backfill/steps.test.sql'
const again = 'sql/operations/backfill_events/delivered.test.sql'
const turns = 'sql/operations/backfill_events/turns.test.sql'
const api = 'sql/api/create_backfill/jobs.test.sql'
const beside = 'concurrency/backfill.test.ts'
const changes = 'concurrency/backfill_changes.test.ts'

export const backfill: readonly Mutant[] = [
  {
    file: 'sql/operations/backfill_job.sql',
    find: '      <= pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())',
    replace: '      <= pg_catalog.pg_current_xact_id()',
    tests: [beside],
    why: 'A backfill passes an event that an older transaction commits later.',
  },
  {
    file: 'sql/operations/backfill_job.sql',
    find: `  where j.id = p_job.id and j.created_at <= p_now - interval '1 s';`,
    replace: '  where j.id = p_job.id and j.created_at <= p_now;',
    tests: [kept],
    why: 'A publisher that gets its transaction id a moment after its time is missed.',
  },
  {
    file: 'sql/operations/backfill_job.sql',
    find: 'least(p_job.rate_per_second, p_most, v_most_waiting - v_waiting)',
    replace: 'least(p_job.rate_per_second, p_most)',
    tests: [kept],
    why: 'A backfill fills the queue of a slow endpoint without a bound.',
  },
  {
    file: 'sql/operations/backfill_turn.sql',
    find: `    update outbox.replay_job j set status = 'cancelled', finished_at = p_now
    where j.id = p_job.id and j.status = 'running';
`,
    replace: '',
    tests: [kept],
    why: 'A backfill to a deleted endpoint runs for ever.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: '    when not outbox.has_or_had(p_event_id, p_job.endpoint_id) then',
    replace: '    when true then',
    tests: [kept],
    why: 'A second backfill sends all events again.',
  },
  {
    file: 'sql/api/backfill_preview.sql',
    find: `    continue when v_action = 'none';\n`,
    replace: '',
    tests: ['sql/api/preview_backfill/same.test.sql'],
    why: 'The preview of a backfill counts what the endpoint has had.',
  },
  {
    file: 'sql/api/backfill_preview.sql',
    find: '      continue when outbox.kept_problem(v_filter, v_event, v_body) is not null;\n',
    replace: '',
    tests: ['sql/api/preview_backfill/same.test.sql'],
    why: 'The preview of a backfill counts what its filter leaves out.',
  },
  {
    file: 'sql/operations/backfill_events.sql',
    find: 'coalesce(e.endpoint_id = p_job.endpoint_id, true)\n      and',
    replace: 'true\n      and',
    tests: [kept],
    why: 'An event for one endpoint is sent to another one.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: `
      -- Its routing decides first: this endpoint may have been subscribed then.
      or exists (select from outbox.unrouted u where u.event_id = v_event.id)`,
    replace: '',
    tests: [kept],
    why: 'An event is sent by the backfill before routing sends it too.',
  },
  {
    file: 'sql/operations/backfill_events.sql',
    find: '      and (not p_job.by_subscription or s.is_open is not null),',
    replace: '      and true,',
    tests: [kept],
    why: 'A backfill sends events of types that the endpoint is not subscribed to.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: `        when v_ordering = 'none' then p_job.id
        else outbox.key_hash(v_ordering, v_event.partition_key)`,
    replace: '        when true then p_job.id',
    tests: [kept],
    why: 'The events of one key go to an ordered endpoint in a lane of their own.',
  },
  {
    file: 'sql/watch/backfill_rows.sql',
    find: 'v_locked := outbox.lock_source(',
    replace: 'v_locked := outbox.read_source(',
    tests: [beside],
    why: 'A row that is being changed is sent as it was, with a later id than its change.',
  },
  {
    file: 'sql/watch/backfill_rows.sql',
    find: '    v_upto := pg_catalog.array_position(v_keys, (v_busy[1]).key) - 1;',
    replace: '    null;',
    tests: [beside],
    why: 'A row that another transaction has locked is passed over and never sent.',
  },
  {
    file: 'sql/watch/backfill_row.sql',
    find: `  if p_event.org_id is distinct from p_job.org_id then\n    return '';\n  elsif`,
    replace: '  if',
    tests: [rows],
    why: 'Rows of another organisation are published too.',
  },
  {
    file: 'sql/watch/backfill_rows.sql',
    find:
      '  if v_ordered and exists (select from outbox.unrouted u where u.event_id = p_job.at_id) then',
    replace: '  if false then',
    tests: [rows],
    why: 'A backfill to an ordered endpoint goes on while routing does not.',
  },
  {
    file: 'sql/watch/backfill_query.sql',
    find: `outbox.key_bound(p_columns, '<=', p_source.until_key)`,
    replace: `'true'`,
    tests: [steps],
    why: 'A backfill follows a table that grows, for ever.',
  },
  {
    file: 'sql/watch/backfill_query.sql',
    find: `set timezone = 'UTC'
set datestyle = 'ISO, MDY'`,
    replace: '',
    tests: [rows],
    why: 'The values of a row depend on the session.',
  },
  {
    file: 'sql/operations/backfill_job.sql',
    find: 'failed_to = least(j.until_at, outbox.latest_event_time())',
    replace: 'failed_to = least(j.until_at, j.failed_to)',
    tests: [beside],
    why: 'An event between the call and its commit is missed.',
  },
  {
    file: 'sql/watch/backfill_rows.sql',
    find: `    v_source.until_key := outbox.last_key(v_source.source);
`,
    replace: '',
    tests: [beside],
    why: 'A row of a transaction that was open at the start is missed.',
  },
  {
    file: 'sql/watch/backfill_rows.sql',
    find: `  if pg_catalog.cardinality(v_rows) = 0 then
    perform outbox.move_backfill(p_job, 0, 0, 0, null, true, p_now);
    return v_events;
  end if;
`,
    replace: '',
    tests: [steps],
    why: 'A job whose rows end where a step does reads the table behind its end.',
  },
  {
    file: 'sql/watch/backfill_query.sql',
    find: 'while v_bytes < p_most_bytes loop',
    replace: 'while v_bytes >= 0 loop',
    tests: [steps],
    why: 'A step reads 1,000 rows of any size.',
  },
  {
    file: 'sql/watch/backfill_row.sql',
    find: '    values (p_event.id, p_event.org_id, true);',
    replace: '    values (p_event.id, p_event.org_id, null);',
    tests: [steps],
    why: 'A backfill spends the bytes that the application may publish in a day.',
  },
  {
    file: 'sql/watch/backfill_rows.sql',
    find: '  if outbox.key_parts(v_source.source) is distinct from v_source.key_parts then',
    replace: '  if false then',
    tests: [steps],
    why: 'A job whose primary key changes ends with rows left out.',
  },
  {
    file: 'sql/watch/backfill_rows.sql',
    find: '    perform outbox.wait_for_row(v_source, v_watch);',
    replace: '    null;',
    tests: [beside],
    why: 'A row that is locked whenever a step looks stops the job for ever.',
  },
  {
    file: 'sql/operations/backfill_turn.sql',
    find: 'order by r.org_at, r.worked_at, r.id',
    replace: 'order by r.id',
    tests: [turns],
    why: 'When the time is short, the jobs with the highest numbers have no step.',
  },
  {
    file: 'sql/operations/backfill_turn.sql',
    find: 'greatest(1, v_most / v_parts)::integer',
    replace: 'v_most',
    tests: [turns],
    why: 'Each backfill adds as many deliveries as all may.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: `      and (not p_is_backfill or j.waits_for is null or j.id = p_job_id)
`,
    replace: '',
    tests: [turns],
    why: 'A job of a dead receiver takes a share of the others.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: `v_ordering <> 'none' and v_event.deliver_at > p_now`,
    replace: 'false',
    tests: [kept],
    why: 'An ordered endpoint gets an event before its time.',
  },
  {
    file: 'sql/api/replay_jobs.sql',
    find: `      and (j.source = 'dead_letters' or j.by_api);
`,
    replace: `      ;
`,
    tests: [api],
    why: 'An organisation resumes a backfill that an operator has paused.',
  },
  {
    file: 'sql/watch/backfill_lock.sql',
    find: `  when transaction_rollback then
    -- Its`,
    replace: `  when deadlock_detected then
    -- Its`,
    tests: [changes],
    why: 'A row that moves to another partition stops the job for 10 s, and is shown as an error.',
  },
  {
    file: 'sql/watch/backfill_lock.sql',
    find: `' for share of n skip locked'`,
    replace: `' for key share of n skip locked'`,
    tests: [beside],
    why:
      'A row can be changed while a step sends it, and its event is older than that of the step.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: '    when p_job.include_delivered\n      and outbox.was_delivered(',
    replace: '    when outbox.was_delivered(',
    tests: [again],
    why: 'A backfill sends again what was delivered, although nobody asked for it.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: `select a.outcome = 'delivered' and`,
    replace: `select a.outcome <> 'failed' and`,
    tests: [again],
    why: 'A backfill sends again what a person has cancelled.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: 'order by a.attempt desc, a.at desc limit 1',
    replace: 'order by a.attempt, a.at limit 1',
    tests: [again],
    why: 'The first end of a delivery counts, not the last one.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: 'select x.delivered_at >= coalesce(',
    replace: 'select x.delivered_at < coalesce(',
    tests: [again],
    why:
      'A delivered dead letter without attempts is lost for a receiver that has to get it again.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: `  return not exists (
      select from outbox.delivery d
      where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id)
    -- The last end counts, as in delivery_status.
    and `,
    replace: '  return ',
    tests: [again],
    why: 'A backfill counts a repeat that is open as one that it skips.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: 'pg_catalog.cardinality(v_pairs) + pg_catalog.cardinality(v_again) >= p_most',
    replace: 'pg_catalog.cardinality(v_pairs) >= p_most',
    tests: [again],
    why: 'Repeats do not count for the rate of a backfill.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: '        v_at := v_before;\n',
    replace: '',
    tests: [again],
    why: 'A repeat that the database refuses for a moment is passed over.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: '  return v_stored || v_again;',
    replace: '  return v_stored;',
    tests: [again],
    why: 'The partition of an event that is sent again is dropped.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: '    when p_problem is not null then 0',
    replace: '    when false then 0',
    tests: [again],
    why: 'An event whose filter fails is sent again.',
  },
  {
    file: 'sql/api/backfill_preview.sql',
    find: `(p_job ->> 'includeDelivered')::boolean`,
    replace: 'null',
    tests: ['sql/api/preview_backfill/same.test.sql'],
    why: 'The preview of a backfill does not count what it sends again.',
  },
  {
    file: 'sql/api/replay_jobs.sql',
    find: `(p_job ->> 'includeDelivered')::boolean`,
    replace: 'null',
    tests: [api],
    why: 'A backfill over HTTP never sends again what was delivered.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: ` and a.at <= p_until from outbox.attempt a`,
    replace: ' from outbox.attempt a',
    tests: ['sql/operations/backfill_events/delivered.test.sql'],
    why: 'A job sends again what is delivered while it runs.',
  },
  {
    file: 'sql/operations/backfill_job.sql',
    find: 'failed_to = least(j.until_at, outbox.latest_event_time())',
    replace: 'failed_to = least(j.until_at, p_now)',
    tests: ['sql/operations/backfill_events/clock_set_back.test.sql'],
    why: 'After the clock was set back, a backfill misses the last events.',
  },
]
