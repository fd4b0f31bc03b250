import { showTable } from '../api/table.ts'
import type { Finding } from '../check/finding.ts'
import { judgeDatabase } from '../check/judge_database.ts'
import type { Facts } from '../remote/facts.ts'
import type { Answer, Asked } from './ask.ts'

/** The health of one database. */
export interface Health {
  version: string
  lastTickAt: string | null
  queue: Facts['queue']
  /** As `outhook check` has them, without those of the project's files and functions. */
  findings: Finding[]
}

/** Reads the health of a database, and judges it as the command of `version` does. */
export async function readHealth(database: Asked, version: string): Promise<Health> {
  const facts = await database.call<Facts>('check_installation', {})
  return {
    version: facts.version,
    lastTickAt: facts.last_tick_at,
    queue: facts.queue,
    findings: judgeDatabase(facts, version),
  }
}

/** Whether a finding is an error. */
export function hasErrors({ findings }: Health): boolean {
  return findings.some(({ status }) => status === 'error')
}

/** One line for each database that has answered, and below the table what is wrong. */
export function showHealth(answers: readonly Answer<Health>[]): string {
  const found = answers.flatMap((one) => one.ok ? [one] : [])
  if (found.length === 0) return 'No database has answered'
  const rows = found.map(({ name, value: { version, lastTickAt, queue, findings } }) => [
    name,
    version,
    findings.filter(({ status }) => status === 'error').length,
    findings.filter(({ status }) => status === 'warning').length,
    queue['unrouted'],
    queue['open'],
    queue['in_flight'],
    queue['dead_letters'],
    lastTickAt,
  ])
  const lines = found.flatMap(({ name, value: { findings } }) =>
    findings.filter(({ status }) => status === 'error' || status === 'warning')
      .flatMap(({ status, finding, remedy, page }) => [
        `${name}: ${status}: ${finding}`,
        ...remedy === undefined ? [] : [`  ${remedy}${page === undefined ? '' : `. See ${page}`}`],
      ])
  )
  return [
    showTable(
      [
        'database',
        'version',
        'errors',
        'warnings',
        'unrouted',
        'open',
        'in flight',
        'dead letters',
        'last tick',
      ],
      rows,
    ),
    ...lines.length === 0 ? [] : ['', ...lines],
  ].join('\n')
}
