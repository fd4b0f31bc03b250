import type { Facts, JobState } from '../remote/facts.ts'
import { error, type Finding, ok, runbook, warning } from './finding.ts'

/** What the facts of the database say about the schema, the jobs and the queue. */
export function judgeDatabase(facts: Facts, version: string): Finding[] {
  return [
    judgeVersion(facts, version),
    judgeConfigured(facts),
    ...judgeJobs(facts),
    ...judgeProblems(facts.problems, error),
    ...judgeProblems(facts.warnings ?? [], warning),
    ...judgeQueue(facts.queue),
  ]
}

function judgeVersion(facts: Facts, version: string): Finding {
  const { modules, postgres } = facts
  if (facts.version === version) {
    return ok('schema', `Outhook ${version} is installed with ${modules.join(', ')} (${postgres})`)
  }
  return error(
    'schema',
    `The database has Outhook ${facts.version}, and this command is of version ${version}`,
    `Use the command of version ${facts.version}, or push the migrations of ${version}`,
    'docs/deploying.md#upgrading',
  )
}

function judgeConfigured({ configured, runs }: Facts): Finding {
  const id = 'configured'
  const { functions_url: url, stored, readable } = configured
  const remedy = 'Call outbox.configure() with the URL of the function and the worker secret'
  if (readable < stored) {
    return error(
      id,
      'Vault cannot decrypt the URL or the secret of the function',
      remedy,
      runbook('Unreadable secrets'),
    )
  }
  if (stored === 2) return ok(id, `The database calls ${url}`)
  if ((runs['worker'] ?? 0) > 0) {
    return ok(id, 'The database does not know the URL of the function, but a worker delivers')
  }
  return error(
    id,
    'The database does not know the URL of the function and the worker secret',
    remedy,
    runbook('Not configured'),
  )
}

const jobNames = [
  'outhook-cleanup',
  'outhook-drop-partitions',
  'outhook-partitions',
  'outhook-tick',
  'outhook-vacuum',
]

function judgeJobs({ jobs, last_tick_at: tickAt }: Facts): Finding[] {
  if (jobs === null) {
    return [
      error(
        'cron',
        'pg_cron is not installed in this database',
        'Enable pg_cron under Database, Extensions, and push the migrations again',
        runbook('No tick'),
      ),
    ]
  }
  const findings = jobNames.flatMap((name) => judgeJob(name, jobs.find((one) => one.name === name)))
  // A new installation has the jobs before their first run.
  const tick = tickAt === null ? 'there was no tick yet' : `the last tick was at ${tickAt}`
  return findings.length > 0 ? findings : [
    ok('cron', `The ${jobNames.length} jobs of pg_cron are active; ${tick}`),
  ]
}

function judgeJob(name: string, job: JobState | undefined): Finding[] {
  const title = name === 'outhook-tick' || name === 'outhook-vacuum'
    ? 'No tick'
    : name === 'outhook-cleanup'
    ? 'Cleanup'
    : 'Partitions'
  if (job === undefined) {
    return [
      error(
        'cron',
        `pg_cron has no job ${name}`,
        'Create the job again, as the section of the runbook says',
        runbook(title),
      ),
    ]
  }
  if (!job.active) {
    return [
      error(
        'cron',
        `The job ${name} is switched off`,
        'Activate the job with cron.alter_job(), as the section of the runbook says',
        runbook(title),
      ),
    ]
  }
  if (job.status !== 'failed') return []
  return [
    warning(
      'cron',
      `The last run of the job ${name} failed: ${job.message ?? 'no message'}`,
      'See cron.job_run_details, and the section of the runbook',
      runbook(title),
    ),
  ]
}

/** The problems or warnings that queue_health has, which name a section of the runbook. */
function judgeProblems(problems: readonly string[], as: typeof error): Finding[] {
  return problems.map((problem) => {
    const [, title] = /\(runbook: ([A-Za-z ]+)\)/.exec(problem) ?? []
    const text = problem.replace(/ \(runbook: [A-Za-z ]+\)/, '')
    const section = title ?? sectionOf(problem)
    return as(
      'queue-problem',
      `${text.charAt(0).toUpperCase()}${text.slice(1)}`,
      'Follow the section of the runbook',
      runbook(section),
    )
  })
}

function sectionOf(problem: string): string {
  if (problem.startsWith('delivery is switched off')) return 'Nothing moves'
  if (problem.startsWith('events or deliveries')) return 'Falling behind'
  if (problem.startsWith('an upgrade to')) return 'Two versions'
  return problem.includes('was refused') ? 'Two versions' : 'Nothing moves'
}

/** Counts of queue_health that should be 0. */
const counts: [column: string, status: 'error' | 'warning', says: string, section: string][] = [
  ['unroutable', 'error', 'Events that cannot be routed', 'Set aside'],
  ['set_aside', 'error', 'Deliveries that the database refuses', 'Refused'],
  ['rows_in_default', 'error', 'Rows in a default partition', 'Partitions'],
  ['endpoints_held', 'warning', 'Endpoints that are paused or disabled', 'Held'],
  ['breakers_open', 'warning', 'Endpoints with an open breaker', 'An endpoint fails'],
  ['dead_letters', 'warning', 'Dead letters that nobody replayed or discarded', 'Dead letters'],
]

function judgeQueue(queue: Facts['queue']): Finding[] {
  const findings = counts.flatMap(([column, status, says, section]): Finding[] => {
    const count = Number(queue[column] ?? 0)
    if (count === 0) return []
    const make = status === 'error' ? error : warning
    return [
      make('queue', `${says}: ${count}`, 'Follow the section of the runbook', runbook(section)),
    ]
  })
  const open = Number(queue['open'] ?? 0)
  return findings.length > 0 ? findings : [ok('queue', `Open deliveries: ${open}. None is stuck`)]
}
