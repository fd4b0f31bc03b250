import type { Mutant } from '../mutant.ts'

export const kickAndTick: readonly Mutant[] = [
  {
    file: 'sql/engine/run/kick.sql',
    find: 'and r.polled_at > v_since and r.polled_at <= v_until)',
    replace: 'and r.polled_at > v_since)',
    tests: ['sql/engine/kick/clock_set_back.test.sql'],
    why: 'After the clock was set back no kick is made for as long.',
  },
  {
    file: 'sql/engine/run/kick.sql',
    find: `      select from outbox.run r
      where r.ended_at is null and r.polled_at > v_since`,
    replace: `      select from outbox.run r
      where r.polled_at > v_since`,
    tests: ['sql/engine/kick/on_commit.test.sql'],
    why: 'A run that has just ended keeps the next from being started.',
  },
  {
    file: 'sql/engine/run/kick.sql',
    find: 'pg_catalog.length(p_worker_secret) < 32',
    replace: 'pg_catalog.length(p_worker_secret) < 16',
    tests: ['sql/engine/configure/cases.test.sql'],
    why: 'A short secret signs the kicks.',
  },
  {
    file: 'sql/engine/run/kick.sql',
    find:
      `perform pg_catalog.setval('outbox.last_kick', (extract(epoch from v_now) * 1000)::bigint);`,
    replace: 'null;',
    tests: ['sql/engine/kick/on_commit.test.sql', 'sql/time/tick/cases.test.sql'],
    why: 'Each commit makes a request while no run answers.',
  },
  {
    file: 'sql/engine/run/kick.sql',
    find: `exception when assert_failure or others then
  -- Not at a commit`,
    replace: `exception when division_by_zero then
  -- Not at a commit`,
    tests: ['sql/engine/kick/never_fails.test.sql'],
    why: 'A publisher fails because a request cannot be queued.',
  },
  {
    file: 'sql/engine/run/kick.sql',
    find: `outbox.setting_on('worker.enabled') and outbox.setting_on('kick.on_commit')`,
    replace: `outbox.setting_on('kick.on_commit')`,
    tests: [
      'sql/engine/kick/on_commit.test.sql',
      'sql/foundation/settings_bounds/in_force.test.sql',
    ],
    why: 'Runs are started although the worker is switched off.',
  },
  {
    file: 'sql/time/tick.sql',
    find: `v_live < outbox.setting_int('worker.max_runs')
      and`,
    replace: 'true and',
    tests: ['sql/time/tick/cases.test.sql', 'sql/time/tick/kicks.test.sql'],
    why: 'The tick starts runs that are turned away at once.',
  },
  {
    file: 'sql/engine/run/run.sql',
    find: `and r.polled_at > p_now - interval '10 s'`,
    replace: `and r.polled_at > p_now - interval '20 s'`,
    tests: ['sql/time/tick/steps.test.sql'],
    why: 'A run that died keeps the tick from starting another.',
  },
  {
    file: 'sql/time/tick.sql',
    find: 'perform outbox.wake_changed(p_now);',
    replace: 'null;',
    tests: [
      'sql/endpoints/pause_endpoint/resumes.test.sql',
      'sql/time/tick/cases.test.sql',
      'sql/engine/rate/changed.test.sql',
    ],
    why: 'A resumed endpoint waits for seconds.',
  },
  {
    file: 'sql/time/tick.sql',
    find: 'perform outbox.work_replay_jobs(p_now);',
    replace: 'null;',
    tests: ['sql/operations/replay_many/job.test.sql', 'sql/time/tick/cases.test.sql'],
    why: 'Nothing works on replay jobs.',
  },
  {
    file: 'sql/time/tick.sql',
    find: `exception when query_canceled or assert_failure or others then
          perform outbox.refuse_upkeep(v_step.calls`,
    replace: `exception when query_canceled then
          perform outbox.refuse_upkeep(v_step.calls`,
    tests: ['sql/time/tick/one_bad_member.test.sql'],
    why: 'An error in one step of the tick costs all the others.',
  },
  {
    file: 'sql/time/tick.sql',
    find: `and e.status = 'enabled' and g.depth > 0`,
    replace: 'and g.depth > 0',
    tests: ['sql/time/tick/steps.test.sql'],
    why: 'The gate of a paused endpoint is woken once a second.',
  },
  {
    file: 'sql/engine/run/kick.sql',
    find: `pg_catalog.count(*) < 3`,
    replace: `pg_catalog.count(*) < 300`,
    tests: ['sql/time/tick/kicks.test.sql'],
    why: 'Kicks pile up while pg_net does not send.',
  },
  {
    file: 'sql/engine/run/run.sql',
    find: `    perform pg_catalog.setval('outbox.kicks_without_run', 0, false);
`,
    replace: '',
    tests: ['sql/time/tick/kicks.test.sql'],
    why: 'After three commits no commit kicks any more.',
  },
  {
    file: 'sql/engine/run/kick_problem.sql',
    find: `q.headers ? 'x-outhook-database' and q.url like '%/deliver/run'`,
    replace: `q.url like '%/deliver/run'`,
    tests: ['sql/engine/kick/not_sent.test.sql'],
    why: 'Requests of the application count as kicks that wait.',
  },
  {
    file: 'sql/engine/run/kick_problem.sql',
    find: `if v_at is null or v_at > p_now - interval '20 s' then`,
    replace: 'if v_at is null then',
    tests: ['sql/engine/kick/not_sent.test.sql'],
    why: 'Each kick is a problem until pg_net has sent it.',
  },
  {
    file: 'sql/operations/queue_health.sql',
    find: `    outbox.kick_problem(outbox.clock()),
`,
    replace: '',
    tests: ['sql/engine/kick/not_sent.test.sql'],
    why: 'Health does not say that pg_net stands still.',
  },
  {
    file: 'sql/time/tick.sql',
    find: 'perform outbox.wake_refused(p_now);',
    replace: 'null;',
    tests: ['sql/engine/refusals/parking.test.sql'],
    why: 'A gate that was refused when its first delivery was created is never due.',
  },
  {
    file: 'sql/engine/run/kick_problem.sql',
    find: '  if v_unreadable is not null then',
    replace: '  if false then',
    tests: ['sql/engine/kick/unreadable.test.sql'],
    why: 'Nobody learns why no kick is sent.',
  },
  {
    file: 'sql/engine/run/kick.sql',
    find: "  if p_why = 'tick' then\n    perform outbox.refuse_upkeep(",
    replace: '  if false then\n    perform outbox.refuse_upkeep(',
    tests: ['sql/engine/kick/unreadable.test.sql'],
    why: 'Nobody learns why each kick fails.',
  },
  {
    file: 'sql/engine/run/kick.sql',
    find: '  perform outbox.notify_workers();\n',
    replace: '',
    tests: ['sql/engine/kick/waking.test.sql', 'concurrency/waking.test.ts'],
    why: 'An event waits for the next poll of a worker that sleeps.',
  },
  {
    file: 'sql/engine/run/waking.sql',
    find: 'p_queue_usage <= 0.5',
    replace: 'p_queue_usage <= 0.9',
    tests: ['sql/engine/kick/waking.test.sql'],
    why: 'Commits of the application fail while a session does not read its notifications.',
  },
  {
    file: 'sql/engine/run/waking.sql',
    find: `    and pg_catalog.current_setting('max_prepared_transactions') = '0'
`,
    replace: '',
    tests: ['concurrency/prepared_transactions.test.ts'],
    why: 'A transaction that published cannot be prepared.',
  },
  {
    file: 'sql/engine/run/waking.sql',
    find: `outbox.setting_on('worker.notify')
    and`,
    replace: '',
    tests: ['sql/engine/kick/waking.test.sql'],
    why: 'The setting that turns notifications off does nothing.',
  },
  {
    file: 'sql/engine/run/waking.sql',
    find: `  perform pg_catalog.setval('outbox.workers_asleep', v_now);
  perform pg_catalog.pg_notify`,
    replace: '  perform pg_catalog.pg_notify',
    tests: ['sql/engine/kick/waking.test.sql', 'concurrency/waking.test.ts'],
    why: 'Each commit notifies until the worker has called, and waits for the others.',
  },
  {
    file: 'sql/engine/run/waking.sql',
    find: "p_contract -> 'listens' = 'true'\n    and ",
    replace: '',
    tests: ['sql/engine/kick/waking.test.sql'],
    why: 'Commits notify workers that do not listen.',
  },
  {
    file: 'sql/engine/run/waking.sql',
    find: 'v_now - v_asleep between 0 and 5',
    replace: 'v_asleep > 1',
    tests: ['sql/engine/kick/waking.test.sql', 'concurrency/waking.test.ts'],
    why: 'A publisher that commits late or never keeps all others from waking the workers.',
  },
  {
    file: 'sql/engine/run/waking.sql',
    find: 'not between 0 and 10',
    replace: 'is not null',
    tests: ['sql/engine/kick/waking.test.sql', 'concurrency/waking.test.ts'],
    why: 'Commits notify under load, because one worker of many often finds nothing.',
  },
  {
    file: 'functions/deliver/turn.ts',
    find: 'state.workedAt === state.respondedAt ? -Infinity : state.respondedAt',
    replace: '-Infinity',
    tests: ['functions/deliver/run_waking.test.ts'],
    why: 'A flood of notifications makes a worker call without a pause.',
  },
  {
    file: 'functions/deliver/due.ts',
    find: '  if (state.isWoken) return Math.min(due, state.wokenInVainAt + options.pollMs)\n',
    replace: '',
    tests: ['functions/deliver/run_waking.test.ts'],
    why: 'A worker that is woken sleeps on until its next poll.',
  },
  {
    file: 'functions/_shared/database/waking.ts',
    find: '    if (held === before || await sessionOf(sql) !== before) return false\n',
    replace: '',
    tests: ['e2e/waking.test.ts'],
    why: 'The session of a transaction pooler listens although no client does.',
  },
  {
    file: 'functions/deliver/turn.ts',
    find: '  if (settings.notify === true) deps',
    replace: '  deps',
    tests: ['functions/deliver/run_waking.test.ts'],
    why: 'A worker holds a session for notifications that nobody sends.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: 'perform outbox.fall_asleep(p_contract);',
    replace: 'null;',
    tests: ['concurrency/waking.test.ts'],
    why: 'No commit wakes a worker.',
  },
]
