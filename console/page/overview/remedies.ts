/** A problem of the database in two parts: what is wrong, and what to do. */
export interface Remedy {
  what: string
  todo: string
  /** The page that shows more of it. */
  to: string | null
}

const runbook = 'sql/ops/RUNBOOK.md'

/** The first words of the problem that work has been due for too long. */
export const dueProblem = 'events or deliveries have been due'

/** What to do about problems whose text does not say it, by their first words. */
export const remedies: readonly (readonly [begins: string, todo: string, to: string | null])[] = [
  [
    'delivery is switched off',
    "To switch it on: select outbox.set_setting('worker.enabled', 'true');",
    null,
  ],
  [
    dueProblem,
    'Look at the runs. If none is alive, deploy the function deliver or start a worker. If one is ' +
    "alive, allow more: select outbox.set_setting('worker.max_runs', '8'); More is under “Nothing " +
    `moves” and “Falling behind” in the runbook: ${runbook}.`,
    '/runs',
  ],
]

/** The first step of each section of the runbook that a problem names. */
export const firstSteps: Readonly<Record<string, string>> = {
  'A copy':
    'If the database is the original, correct OUTHOOK_PROJECT of the run. If it is a copy, ' +
    'decide what happens with its deliveries. This cancels those that wait: select ' +
    "outbox.decide_copy('cancel_pending');",
  'Connections': 'Find the program that keeps them: select usename, application_name, state, ' +
    "count(*) from pg_stat_activity where backend_type = 'client backend' group by 1, 2, 3 " +
    'order by 4 desc;',
  'Disk': 'Enlarge the disk, and drop a replication slot that nobody reads: select ' +
    'slot_name, active from pg_replication_slots;',
  'Kicks wait': 'Start pg_net again: select net.worker_restart();',
  'Missing settings': 'Insert the rows again. The migrations have the statements: search for the ' +
    'name of the setting.',
  'No run':
    'Look at how the function responds: select created, status_code, error_msg, timed_out ' +
    'from net._http_response order by created desc limit 20;',
  'No sender': 'Deploy the function deliver, or start a worker, with the sender of this kind.',
  'No tick': 'Make pg_cron read its jobs again, and wait a minute: select outbox.reload_jobs();',
  'Partitions': 'Create them, and repeat it until late is empty: select outbox.add_partitions();',
  'Periodic work': 'Remove the cause that the error names; the work is then repeated by itself: ' +
    'select * from outbox.upkeep_refusal order by at desc;',
  'Traffic':
    'If so much is expected, raise the setting traffic.mib_per_month. Otherwise find the ' +
    'endpoint that gets the most, and give it a filter or fewer event types.',
  'Transaction ids': 'End what delays autovacuum, then run it by hand: vacuum (freeze);',
  'Two versions':
    'Update the older of the two that the text names: push the migrations, or deploy ' +
    'the functions.',
  'Vacuum delayed': 'Find the session that has been open for longest, and end it with ' +
    'pg_terminate_backend(pid): select pid, state, xact_start from pg_stat_activity where ' +
    'xact_start is not null order by xact_start;',
}

/** Sections of the runbook that are about the runs. */
export const aboutRuns: readonly string[] = [
  'No run',
  'No sender',
  'Two versions',
  'Kicks wait',
  'No tick',
]

/** Splits the text of a problem; many name their section of the runbook. */
export function remedyOf(problem: string): Remedy {
  const [, text = problem, section] = /^(.*?) \(runbook: ([^)]+)\)$/s.exec(problem) ?? []
  const what = `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
  const known = remedies.find(([begins]) => problem.startsWith(begins))
  if (known !== undefined) return { what, todo: known[1], to: known[2] }
  if (section === undefined) {
    return { what, todo: `The runbook has the steps: ${runbook}.`, to: null }
  }
  return {
    what,
    todo: `${firstStep(section)}The runbook has all steps under “${section}”: ${runbook}.`,
    to: aboutRuns.includes(section) ? '/runs' : null,
  }
}

/** With a space after it; empty if it is not known. */
function firstStep(section: string): string {
  return Object.hasOwn(firstSteps, section) ? `${firstSteps[section]} ` : ''
}
