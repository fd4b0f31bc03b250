import type { Mutant } from '../mutant.ts'

export const cleanupAndPartitions: readonly Mutant[] = [
  {
    file: 'sql/time/expire.sql',
    find: `and coalesce(d.replayed_at, '-infinity') < v_before
      and coalesce(d.leased_until`,
    replace: 'and coalesce(d.leased_until',
    tests: ['sql/time/cleanup/stuck.test.sql'],
    why: 'Deliveries that were replayed lately keep later ones from expiring.',
  },
  {
    file: 'sql/time/expire.sql',
    find: `and coalesce(d.leased_until, '-infinity') <= v_now
      and exists`,
    replace: 'and exists',
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
    find: `where e.id = d.endpoint_id and e.status <> 'deleted')`,
    replace: 'where e.id = d.endpoint_id)',
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
      `  perform outbox.announce_dead(array[p_delivery.event_id], array[p_delivery.endpoint_id], p_now);
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
      'or exists (select from outbox.unroutable u where u.event_id >= v_from and u.event_id < v_to);',
    replace: ';',
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
    find: 'if v_open or not found or v_check.checked_on < p_today then',
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
]
