import type { Mutant } from '../mutant.ts'

export const dispatch: readonly Mutant[] = [
  {
    file: 'sql/engine/run/dispatch.sql',
    find: `set statement_timeout = '5s'
`,
    replace: '',
    tests: ['sql/engine/dispatch/limits.test.sql'],
    why: 'A call that hangs holds its gates without end.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: `least(coalesce(p_limit, 0), outbox.setting_int('worker.batch_size'))`,
    replace: 'coalesce(p_limit, 0)',
    tests: [
      'sql/foundation/settings_bounds/in_force.test.sql',
      'sql/engine/dispatch/answer.test.sql',
    ],
    why: 'The setting worker.batch_size has no effect.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: 'where o.run_id = p_run and o.seq between p_seq - 16 and p_seq - 9',
    replace: 'where o.run_id = p_run and o.seq between p_seq - 16 and p_seq - 1',
    tests: ['sql/engine/dispatch/repeat.test.sql'],
    why: 'A call whose answer was lost cannot be asked for again once another was made.',
  },
  {
    file: 'sql/engine/run/response.sql',
    find: `and a.outcome = 'failed'
      offset 0`,
    replace: 'offset 0',
    tests: ['sql/engine/dispatch/retries.test.sql'],
    why: 'A run expects a retry of what was delivered.',
  },
  {
    file: 'sql/engine/run/run.sql',
    find: '(r.started_at, r.id) < (p_before.started_at, p_before.id)));',
    replace: '(r.started_at, r.id) <= (p_before.started_at, p_before.id)));',
    tests: ['sql/engine/dispatch/stop.test.sql'],
    why: 'One run fewer than allowed is kept.',
  },
  {
    file: 'sql/engine/run/run.sql',
    find: `where r.kind = 'edge' and r.ended_at is null and`,
    replace: 'where r.ended_at is null and',
    tests: ['sql/engine/dispatch/stop.test.sql'],
    why: 'Workers keep the edge runs away.',
  },
  {
    file: 'sql/engine/run/run.sql',
    find: `  return p_run.kind = 'edge'
    and outbox`,
    replace: '  return outbox',
    tests: ['sql/engine/dispatch/stop.test.sql'],
    why: 'A worker is turned away because edge runs are there.',
  },
  {
    file: 'sql/engine/run/run.sql',
    find: 'ended_at = case when p_ended or v_stop is not null then p_now end',
    replace: 'ended_at = case when p_ended then p_now end',
    tests: ['sql/engine/dispatch/limits.test.sql'],
    why: 'A run that was told to stop counts as alive, so that no kick is made.',
  },
  {
    file: 'sql/engine/claim/claim.sql',
    find: `and d.attempt = c.attempt
        and d.leased_until > p_now offset 0`,
    replace: 'and d.attempt = c.attempt offset 0',
    tests: ['sql/engine/dispatch/repeat.test.sql'],
    why: 'A repeat of a call brings what was delivered meanwhile or lost.',
  },
  {
    file: 'sql/engine/claim/claim.sql',
    find: 'd.endpoint_id = c.endpoint_id and d.attempt = c.attempt',
    replace: 'd.endpoint_id = c.endpoint_id',
    tests: ['sql/engine/dispatch/repeat.test.sql'],
    why: 'A repeat of a call brings a later claim of another run.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: `(v_stop is not null or not outbox.has_due(v_now)) and not exists (
      select from outbox.run_batch b where b.run_id = p_run and b.seq = p_seq))`,
    replace: `v_stop is not null or not outbox.has_due(v_now))`,
    tests: ['sql/engine/dispatch/idle.test.sql', 'sql/engine/dispatch/repeat.test.sql'],
    why: 'A run whose response was lost never sends what it has claimed.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: `    perform outbox.forget_batches(p_run, p_seq);
    return`,
    replace: '    return',
    tests: ['sql/engine/dispatch/idle.test.sql'],
    why: 'A worker leaves some batches behind each time that it has no more work.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: `p_contract -> 'repeat' is distinct from 'true'`,
    replace: 'true',
    tests: ['sql/engine/dispatch/idle.test.sql'],
    why: 'A call that arrives after its repeat claims deliveries that nobody sends.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: `between p_seq - 16 and p_seq - 9
    for update skip locked));`,
    replace: `between p_seq - 16 and p_seq - 9
    for update));`,
    tests: ['concurrency/repeat.test.ts'],
    why: 'The calls of a worker wait for each other, so a long one makes every organisation wait.',
  },
]
