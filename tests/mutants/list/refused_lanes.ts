import type { Mutant } from '../mutant.ts'

/** Lanes that the database refuses to change, and a slow database. */
export const refusedLanes: readonly Mutant[] = [
  {
    file: 'sql/engine/claim/claim.sql',
    find: 'exit when v_lanes = 0;',
    replace: 'exit;',
    tests: ['sql/engine/refusals/lanes.test.sql'],
    why: 'A key whose lane cannot be changed stops all keys of its endpoint.',
  },
  {
    file: 'sql/engine/claim/refused_lane.sql',
    find: 'v_is_cause boolean := v_new_error is null;',
    replace: 'v_is_cause boolean := true;',
    tests: ['sql/engine/refusals/lanes.test.sql'],
    why: 'If no lane can be changed, each is left out alone instead of the endpoint.',
  },
  {
    file: 'sql/engine/claim/refused_lane.sql',
    find: ' < 2 * v_slowest;',
    replace: ' < 0 * v_slowest;',
    tests: ['concurrency/refused_claims.test.ts#each change of a lane is slow'],
    why: 'While the database is slow, one lane after the other is left out.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: '        and (not v_left_out or not outbox.is_left_out(l.id, p_now))\n',
    replace: '',
    tests: ['sql/engine/refusals/lanes.test.sql'],
    why: 'A lane that is left out fails each claim.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: '        + case when v_left_out then outbox.stuck_requests(g.id) else 0 end as allowed',
    replace: '        as allowed',
    tests: ['sql/engine/refusals/lanes.test.sql'],
    why: 'Lost leases that cannot be recorded use up the requests of their endpoint for ever.',
  },
  {
    file: 'sql/engine/result/lost_lease.sql',
    find: ' and not outbox.is_left_out(n.id, p_now));',
    replace: ');',
    tests: ['sql/engine/refusals/lanes.test.sql'],
    why: 'A lost lease in a lane that cannot be changed stops its endpoint.',
  },
  {
    file: 'sql/engine/queue/park.sql',
    find:
      '      when v_left_out then outbox.lane_due_at(o.id, least(o.lanes_from, p_now), false, p_now)\n',
    replace: '',
    tests: ['sql/engine/refusals/lanes.test.sql'],
    why: 'A lane that is left out keeps its gate due in vain.',
  },
  {
    file: 'sql/engine/queue/lane_refusal.sql',
    find: `least(interval '5 minutes', interval '10 s' * 2 ^ least(r.failures, 6))`,
    replace: `interval '10 s'`,
    tests: ['sql/engine/refusals/lanes.test.sql'],
    why: 'A lane that cannot be changed costs a failed claim every 10 s.',
  },
  {
    file: 'sql/engine/queue/refusal.sql',
    find: '  perform outbox.admit_lanes(p_endpoint_ids);\n',
    replace: '',
    tests: ['sql/engine/refusals/lanes.test.sql'],
    why: 'A lane that works again is shown as refused for ever.',
  },
  {
    file: 'sql/time/tick.sql',
    find: `    or v_now / p_every is distinct from
      pg_catalog.pg_sequence_last_value('outbox.last_tick_second') / p_every;`,
    replace: ';',
    tests: ['sql/time/tick/comes_round.test.sql'],
    why: 'With a long poll interval, a tick that skips a second never sends a kick.',
  },
  {
    file: 'sql/time/tick.sql',
    find: 'elsif outbox.comes_round(10, p_now) then',
    replace: 'elsif v_second % 10 = 0 then',
    tests: ['sql/time/tick/late_counts.test.sql'],
    why:
      'With pg_cron before 1.5, what was counted in a long transaction never reaches the metrics.',
  },
  {
    file: 'sql/engine/claim/waiting_kind.sql',
    find: `    outbox.setting_int('worker.poll_interval_ms') * interval '1 ms');`,
    replace: `interval '10 s');`,
    tests: ['sql/engine/claim/slow_poll.test.sql'],
    why: 'The endpoints of a worker that polls rarely are delayed each time.',
  },
  {
    file: 'functions/deliver/due.ts',
    find: 'now - state.firstResponseAt >= maxWallMs',
    replace: 'now - state.startedAt >= maxWallMs',
    tests: ['functions/deliver/run_bounds.test.ts'],
    why: 'With a slow first call, a run releases all that it has claimed.',
  },
  {
    file: 'functions/deliver/options.ts',
    find: 'settings.poll_ms * 3 / 10',
    replace: 'settings.poll_ms * 2 / 5',
    tests: ['functions/deliver/run_pace.test.ts'],
    why: 'A commit kicks although a worker is alive.',
  },
  {
    file: 'consumer/record.ts',
    find: 'if (pauseMs === undefined) throw new NotRecorded(event, error)',
    replace: 'if (pauseMs === undefined) return',
    tests: ['consumer/replay_record.test.ts'],
    why: 'What is published and not recorded is published again after an hour.',
  },
  {
    file: 'consumer/kafka/replay.ts',
    find: 'if (isOver || ended.failure !== null || stop',
    replace: 'if (isOver || stop',
    tests: ['consumer/replay_record.test.ts'],
    equivalent:
      'eachBatch returns at the failure, and the consumer disconnects before another batch.',
    why: 'After a failure further letters are published.',
  },
]
