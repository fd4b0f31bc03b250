import type { Mutant } from '../mutant.ts'

export const contractsAndTickProblem: readonly Mutant[] = [
  {
    file: 'sql/engine/run/contract.sql',
    find: 'return case when v_oldest <= v_newest then v_newest end;',
    replace: 'return v_newest;',
    tests: ['sql/engine/dispatch/contract.test.sql'],
    why:
      'Functions of a contract that the database does not speak claim, and cannot read the answer.',
  },
  {
    file: 'sql/engine/run/contract.sql',
    find: `coalesce((p_speaks ->> 'newest')::integer, 1) <`,
    replace: `coalesce((p_speaks ->> 'newest')::integer, 9) <`,
    tests: ['sql/engine/dispatch/contract.test.sql'],
    why: 'Who runs old functions is told to update the database.',
  },
  {
    file: 'sql/engine/run/contract.sql',
    find: `      and r.speaks = coalesce(p_speaks, '{}')
`,
    replace: '',
    tests: ['sql/engine/dispatch/contract.test.sql'],
    why: 'Of two versions that are refused at a time only the first is named.',
  },
  {
    file: 'sql/engine/run/contract.sql',
    find: `r.at between p_now - interval '1 s' and p_now`,
    replace: 'false',
    tests: ['sql/engine/dispatch/contract.test.sql'],
    why: 'Refused runs wait for each other at one row.',
  },
  {
    file: 'sql/engine/run/contract.sql',
    find: `  perform outbox.count_up('runs', array[p_kind, 'contract']);
`,
    replace: '',
    tests: ['sql/engine/dispatch/contract.test.sql'],
    why: 'Refused runs do not show in the metrics.',
  },
  {
    file: 'sql/engine/run/contract.sql',
    find: 'update outbox.run r set ended_at = p_now',
    replace: 'update outbox.run r set ended_at = null',
    tests: ['sql/engine/dispatch/contract.test.sql'],
    why: 'A run that was refused keeps the place of another.',
  },
  {
    file: 'sql/engine/run/contract.sql',
    find: `where r.at > p_now - interval '5 minutes'`,
    replace: `where r.at > p_now - interval '50 minutes'`,
    tests: ['sql/engine/dispatch/contract.test.sql'],
    why: 'The alarm goes on after the update.',
  },
  {
    file: 'sql/engine/run/contract.sql',
    find: `
      and outbox.agreed_contract(nullif(r.speaks, '{}')) is null);`,
    replace: ');',
    tests: ['sql/engine/dispatch/contract.test.sql'],
    why: 'The alarm goes on after the update of the database.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: `    when v_contract is not null
    then outbox.touch_run(`,
    replace: `    when true
    then outbox.touch_run(`,
    tests: ['sql/engine/dispatch/contract.test.sql'],
    why: 'Runs that are refused count as alive, so that no others are started.',
  },
  {
    file: 'functions/deliver/turn.ts',
    find: `state.end = received === null ? 'database' : 'contract'`,
    replace: `state.end = 'database'`,
    tests: ['functions/deliver/run_contract.test.ts'],
    why: 'The summary of a run does not say that the versions differ.',
  },
  {
    file: 'functions/_shared/contract/range.ts',
    find: 'return read.success ? read.data.refused : null',
    replace: 'return null',
    tests: ['functions/_shared/database/dispatch.test.ts'],
    why: 'A refusal is taken for an answer without work, and the run goes on.',
  },
  {
    file: 'sql/engine/run/tick_problem.sql',
    find: `interval '90 s' then`,
    replace: `interval '95 s' then`,
    tests: ['sql/time/tick/problem.test.sql'],
    why: 'A tick that has stopped is told later than said.',
  },
  {
    file: 'sql/engine/run/tick_problem.sql',
    find: `    from outbox.last_tick s where s.is_called);`,
    replace: `    from outbox.last_tick s);`,
    tests: ['sql/time/tick/problem.test.sql'],
    why: 'The time of the installation is shown as a tick.',
  },
  {
    file: 'sql/engine/run/tick_problem.sql',
    find: `      when not v_active then 'the cron job outhook-tick is switched off'
`,
    replace: '',
    tests: ['sql/time/tick/problem.test.sql'],
    why: 'A job that is switched off is not named as the cause.',
  },
  {
    file: 'sql/engine/run/tick_problem.sql',
    find: 'active => j.active',
    replace: 'active => true',
    tests: ['sql/time/tick/problem.test.sql'],
    why: 'configure() switches a job on that a person has switched off.',
  },
  {
    file: 'sql/engine/run/tick_problem.sql',
    find: `    and not exists (
      select from pg_catalog.pg_stat_activity`,
    replace: `    and exists (
      select from pg_catalog.pg_stat_activity`,
    tests: ['sql/time/tick/problem.test.sql'],
    why: 'A database is to be restarted whose tick is switched off by a setting.',
  },
  {
    file: 'sql/time/tick.sql',
    find: `  perform pg_catalog.setval('outbox.last_tick',
    (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint);
`,
    replace: '',
    tests: ['sql/time/tick/problem.test.sql'],
    why: 'A tick that runs is said not to.',
  },
  {
    file: 'sql/engine/run/response.sql',
    find: `'problem', coalesce(p_problem, outbox.tick_problem()),`,
    replace: `'problem', p_problem,`,
    tests: ['sql/time/tick/problem.test.sql'],
    why: 'No run logs that the tick has stopped.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: 'outbox.record_refused(p_results, v_now), v_now);',
    replace: '0, v_now);',
    tests: ['sql/engine/dispatch/contract.test.sql'],
    why: 'The results of a refused run are dropped, and its requests are sent again.',
  },
]
