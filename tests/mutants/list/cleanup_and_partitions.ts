import type { Mutant } from '../mutant.ts'

export const cleanupAndPartitions: readonly Mutant[] = [
  {
    file: 'sql/time/expire.sql',
    find: `where coalesce(d.replayed_at, '-infinity') < p_before
          and coalesce(d.leased_until`,
    replace: 'where coalesce(d.leased_until',
    tests: ['sql/time/cleanup/stuck.test.sql'],
    why: 'Deliveries that were replayed lately keep later ones from expiring.',
  },
  {
    file: 'sql/time/expire.sql',
    find: `and coalesce(d.leased_until, '-infinity') <= p_now
          and not exists`,
    replace: 'and not exists',
    tests: ['sql/time/cleanup/stuck.test.sql'],
    why: 'Deliveries in flight keep later ones from expiring.',
  },
  {
    file: 'sql/time/expire.sql',
    find: `    perform outbox.record_lost_lease(v_delivery, v_now);
`,
    replace: '',
    tests: ['sql/engine/regressions/expired_counts_its_lost_lease.test.sql'],
    why: 'The lost attempt of a delivery that expires is not recorded.',
  },
  {
    file: 'sql/time/expire.sql',
    find: `where e.id = d.endpoint_id and e.status <> 'deleted' offset 0`,
    replace: 'where e.id = d.endpoint_id offset 0',
    tests: ['sql/time/cleanup/left_alone.test.sql'],
    why: 'What a deleted endpoint has left becomes dead letters.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: 'where greatest(o.discarded_at, o.delivered_at) < p_now',
    replace: 'where greatest(o.discarded_at, o.delivered_at, o.failed_at) < p_now',
    tests: ['sql/time/cleanup/parts.test.sql'],
    why: 'A dead letter that nobody has looked at goes.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: `        and not exists (
          select from outbox.delivery d
          where d.event_id = o.event_id and d.endpoint_id = o.endpoint_id)
`,
    replace: '',
    tests: ['sql/time/cleanup/parts.test.sql', 'sql/operations/replay/dropped_event.test.sql'],
    why: 'The body of a replay goes while it is still to be sent.',
  },
  {
    file: 'sql/time/expire.sql',
    find:
      `  perform outbox.on_dead_letters(array[p_delivery.event_id], array[p_delivery.endpoint_id],
    p_now);
`,
    replace: '',
    tests: [
      'sql/time/cleanup/expiry.test.sql',
      'sql/brokers/dead_letter_topic/publish_dead_letters.test.sql',
    ],
    why: 'What expires for a broker does not come to its dead-letter topic.',
  },
  {
    file: 'sql/time/expire.sql',
    find:
      `  perform outbox.announce_dead(array[p_delivery.event_id], array[p_delivery.endpoint_id]);
`,
    replace: '',
    tests: ['sql/time/cleanup/expiry.test.sql', 'sql/engine/announce/published.test.sql'],
    why: 'Nobody is told of a dead letter that expired.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: `and not l.halted and l.not_before <= $2
    $delete$,
    array(
      select o.ctid from outbox.lane o
      where o.depth = 0 and o.leased = 0 and not o.halted and`,
    replace: `and l.not_before <= $2
    $delete$,
    array(
      select o.ctid from outbox.lane o
      where o.depth = 0 and o.leased = 0 and`,
    tests: ['sql/time/cleanup/left_alone.test.sql'],
    why: 'A key that stopped behind a dead letter goes on after midnight.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: 'v_n >= v_most',
    replace: 'v_n > v_most',
    tests: ['sql/time/cleanup/more.test.sql'],
    why: `A night's cleanup ends at its limit.`,
  },
  {
    file: 'sql/time/drop_partition.sql',
    find:
      `    or exists (select from outbox.unroutable u where u.event_id >= v_from and u.event_id < v_to)
`,
    replace: '',
    tests: ['sql/time/partitions/drop_event.test.sql'],
    why: 'The day of an event that was set aside is dropped.',
  },
  {
    file: 'sql/time/drop_partition.sql',
    find:
      `or exists (select from outbox.unrouted u where u.event_id >= v_from and u.event_id < v_to)
`,
    replace: '',
    tests: ['sql/time/partitions/drop_event.test.sql'],
    why: 'The day of an event that nobody has routed is dropped.',
  },
  {
    file: 'sql/time/drop_partition.sql',
    find:
      'if not found or v_check.checked_on < p_today or (v_open and v_check.clean_nights > 0) then',
    replace: 'if true then',
    tests: ['sql/time/partitions/drop_event.test.sql'],
    why: 'A night that is looked at twice counts twice.',
  },
  {
    file: 'sql/time/drop_partition.sql',
    find: 'v_check.clean_nights >= v_clean or',
    replace: 'v_check.clean_nights > v_clean or',
    tests: ['sql/time/partitions/drop_event.test.sql'],
    why: 'Each day is kept a night too long.',
  },
  {
    file: 'sql/time/drop_partition.sql',
    find: `outbox.setting_int('event.delivered_days') + 1`,
    replace: `outbox.setting_int('event.delivered_days')`,
    tests: [
      'sql/time/partitions/drop_event.test.sql',
      'sql/foundation/settings_bounds/windows.test.sql',
    ],
    why: 'A delivered event can be replayed for a day less than said.',
  },
  {
    file: 'sql/time/drop_partition.sql',
    find: 'case when v_open then 0 else c.clean_nights + 1 end',
    replace: 'c.clean_nights + (not v_open)::integer',
    tests: ['sql/time/cleanup/left_alone.test.sql'],
    why: 'The nights before something was open count.',
  },
  {
    file: 'sql/time/drop_partition.sql',
    find: 'if not found or v_open then',
    replace: 'if not found then',
    tests: ['concurrency/partitions.test.ts', 'sql/time/partitions/drop_event.test.sql'],
    why: 'A day goes with an event that was replayed while the drop waited for its lock.',
  },
  {
    file: 'sql/time/partition.sql',
    find: 'pg_catalog.generate_series(0, 7)',
    replace: 'pg_catalog.generate_series(0, 6)',
    tests: ['sql/time/partitions/ahead.test.sql'],
    why: 'Partitions are made for six days.',
  },
  {
    file: 'sql/time/partition.sql',
    find: `  execute pg_catalog.format('alter table outbox.%I enable row level security', v_name);
`,
    replace: '',
    tests: ['sql/time/partitions/ahead.test.sql', 'sql/schema/rights.test.sql'],
    why: `A new day's events have no row level security.`,
  },
  {
    file: 'sql/time/drop_partition.sql',
    find: `(v_today - outbox.setting_int('attempt.retention_days'))::timestamp`,
    replace: `(v_today + 1 - outbox.setting_int('attempt.retention_days'))::timestamp`,
    tests: ['sql/time/partitions/drop_attempt.test.sql'],
    why: 'Attempts are kept for a day less than said.',
  },
  {
    file: 'sql/events/partition.sql',
    find: `set datestyle = 'ISO, YMD'
set timezone = 'UTC'
`,
    replace: '',
    tests: ['sql/time/partitions/settings.test.sql'],
    why: 'Bounds are read as another time under other settings of the session.',
  },
  {
    file: 'sql/time/partition.sql',
    find: `    if v_part.since > v_from then
      v_until := v_part.since;
      exit;
    end if;
`,
    replace: '',
    tests: ['sql/time/partitions/settings.test.sql'],
    why: 'The time before a partition with other bounds has no partition.',
  },
  {
    file: 'sql/time/partition.sql',
    find: 'v_most constant integer := 10000;',
    replace: 'v_most constant integer := 2000000;',
    tests: ['sql/time/partitions/settings.test.sql'],
    why: 'Publishers wait while any number of rows is moved.',
  },
  {
    file: 'sql/time/partition.sql',
    find: `    execute pg_catalog.format('alter table outbox.%I replica identity full', v_name);
`,
    replace: '',
    tests: ['sql/schema/replica_identity.test.sql'],
    why: 'A publication for all tables stops the work on a new partition.',
  },
  {
    file: 'sql/time/drop_partition.sql',
    find: 'v_more := v_dropped >= p_most or',
    replace: 'v_more := false or',
    tests: ['sql/time/partitions/pieces.test.sql'],
    why: 'All old partitions are dropped in one transaction.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: '  where p.done_on is distinct from v_today\n',
    replace: '  where true\n',
    tests: ['sql/time/cleanup/pieces.test.sql'],
    why: 'The job cleans up without end.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: `coalesce(p.failed_at, '-infinity') < pg_catalog.statement_timestamp()`,
    replace: 'true',
    tests: ['sql/time/cleanup/pieces.test.sql'],
    why: 'A step that fails keeps the others from being reached.',
  },
  {
    file: 'sql/engine/claim/batch.sql',
    find:
      `    raise exception using errcode = 'OH002', message = 'an event of this claim is not stored';
`,
    replace: '    null;\n',
    tests: ['sql/engine/claim/event_missing.test.sql'],
    why: 'A run gets a delivery without a body.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: `where o.status in ('done', 'cancelled') and o.finished_at < p_now`,
    replace: 'where o.created_at < p_now',
    tests: ['sql/time/cleanup/replay_jobs.test.sql'],
    why: 'The cleanup deletes open replay jobs.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: `o.key_hash > 0 and not exists (`,
    replace: 'o.key_hash > 0 and exists (',
    tests: ['sql/time/cleanup/replay_jobs.test.sql'],
    why: 'The lane of a deleted replay job is never deleted.',
  },
  {
    file: 'sql/time/drop_partition.sql',
    find: "execute pg_catalog.format('drop table %s', p_part);",
    replace: "execute pg_catalog.format('drop table outbox.%I', v_name);",
    tests: ['sql/time/partitions/renamed.test.sql'],
    why: 'A table of the user that has the name of a moved partition is dropped.',
  },
  {
    file: 'sql/foundation/change_rows.sql',
    find: `        detail = outbox.row_name(p_table, v_rows[1]);`,
    replace: `        detail = '';`,
    tests: ['sql/time/cleanup/slow_row.test.sql'],
    why: 'A row that takes too long stops its step of the cleanup each night.',
  },
  {
    file: 'sql/foundation/change_rows.sql',
    find: `      if not outbox.is_slow_row(p_task, p_table, v_row, p_now) then`,
    replace: `      if true then`,
    tests: ['sql/time/cleanup/slow_row.test.sql'],
    why: 'A row that takes too long is tried again in each start.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: `      and not ((r.sqlstate = '57014' or p_name = 'swept_events')
        and r.at > p_now - interval '1 day');`,
    replace: `;`,
    tests: ['sql/time/cleanup/slow_row.test.sql'],
    why:
      'A row that takes too long is forgotten at the end of the night, and cancels the next one.',
  },
  {
    file: 'sql/time/expire.sql',
    find:
      `order by pg_catalog.row_number() over (partition by o.org_id order by o.turn, o.event_id),
        o.event_id`,
    replace: 'order by o.event_id',
    tests: ['sql/time/tick/expiry_in_turns.test.sql'],
    why: 'What one organisation has left to expire comes before that of all others.',
  },
  {
    file: 'sql/time/expire.sql',
    find: 'where d.event_id > coalesce(v_from, v_start) and',
    replace: 'where',
    tests: ['sql/time/tick/expiry_in_turns.test.sql'],
    why: 'The 5,000 oldest deliveries of one organisation keep all later ones from expiring.',
  },
  {
    file: 'sql/time/expire.sql',
    find: `      when (select pg_catalog.count(*) from looked) >= v_most
      then`,
    replace: `      when true
      then`,
    tests: ['sql/time/tick/expiry_in_turns.test.sql'],
    why: 'After its last old delivery, the expiry does not begin with the oldest one again.',
  },
  {
    file: 'sql/operations/purge.sql',
    find:
      'order by pg_catalog.row_number() over (partition by e.org_id order by pg_catalog.random()),',
    replace: 'order by e.org_id,',
    tests: ['sql/operations/delete_endpoint/turns.test.sql'],
    why: 'The deleted endpoints of one organisation come before those of all others.',
  },
  {
    file: 'sql/operations/purge.sql',
    find: 'greatest(p_limit / pg_catalog.cardinality(v_endpoints), 1), v_now,',
    replace: 'greatest(p_limit - v_purged, 1), v_now,',
    tests: ['sql/operations/delete_endpoint/turns.test.sql'],
    why: 'One deleted endpoint takes all that a tick removes.',
  },
  {
    file: 'sql/time/drop_partition.sql',
    find: `
    or exists (select from outbox.refusal r where r.event_id >= v_from and r.event_id < v_to);`,
    replace: ';',
    tests: ['sql/time/partitions/refused.test.sql'],
    why: 'The event of a delivery that the database refused to create is dropped.',
  },
  {
    file: 'sql/time/sweep_events.sql',
    find: 'p.until <= outbox.stored_since() and',
    replace: 'false and',
    tests: ['sql/time/partitions/sweep.test.sql'],
    why: 'One open delivery keeps all delivered events of its day.',
  },
  {
    file: 'sql/time/sweep_events.sql',
    find: 'a.event_id = p_event_id and a.at >= p_since',
    replace: `a.event_id = p_event_id and a.at >= p_since + interval '1 day'`,
    tests: ['sql/time/partitions/sweep.test.sql'],
    why: 'What was replayed or delivered late can be replayed for a day less than said.',
  },
  {
    file: 'sql/time/sweep_events.sql',
    find: `
    or exists (select from outbox.refusal r where r.event_id = p_event_id);`,
    replace: ';',
    tests: ['sql/time/partitions/sweep.test.sql'],
    why: 'The event of a delivery that the database refused to create is deleted.',
  },
  {
    file: 'sql/time/sweep_events.sql',
    find: ' for update skip locked',
    replace: '',
    tests: ['concurrency/sweep.test.ts#passes over an event that is being replayed'],
    why: 'The sweep waits for a replay, and then deletes its event.',
  },
  {
    file: 'sql/time/sweep_events.sql',
    find: `      'and not outbox.is_event_needed(v.id, %L)', p_part, v_since),`,
    replace: `      '', p_part),`,
    tests: ['concurrency/sweep.test.ts#replayed after it looked at it'],
    why: 'An event that is replayed while the sweep looks at it is deleted.',
  },
  {
    file: 'sql/operations/replay.sql',
    find: 'perform from outbox.event e where e.id = p_event_id for key share;',
    replace: 'null;',
    tests: ['concurrency/sweep.test.ts#waits, and is refused'],
    why: 'A replay opens a delivery whose event the sweep deletes.',
  },
  {
    file: 'sql/time/sweep_events.sql',
    find: '    if outbox.is_open_between(v_part.since, v_part.until) then',
    replace: '    if true then',
    tests: ['sql/time/partitions/sweep.test.sql'],
    why: 'Days that are dropped as a whole are deleted row by row.',
  },
  {
    file: 'sql/time/sweep_events.sql',
    find: '  if v_to is distinct from v_from then',
    replace: '  if false then',
    tests: ['sql/time/partitions/sweep.test.sql'],
    why: 'The sweep looks at the same events in each piece.',
  },
  {
    file: 'sql/operations/relay_status.sql',
    find: `not s.open and s.status in ('dead_letter', 'expired')`,
    replace: `not s.open and s.status in ('dead_letter', 'expired', 'filter_error')`,
    tests: ['sql/operations/views/naive_recount.test.sql'],
    why: 'A failed filter is shown as a dead letter, which nobody finds.',
  },
]
