import process from 'node:process'
import { showTable } from '../api/table.ts'
import { callDataApi } from '../remote/data_api.ts'
import type { ContractRange } from '../remote/facts.ts'
import { readTarget, type TargetOptions } from '../remote/target.ts'
import { exitCodes, type Terminal } from '../terminal.ts'

/** The options of `outhook workers`. */
export interface WorkersOptions extends TargetOptions {
  json: boolean
}

/** A worker; a member that it has not named is null. */
export interface ListedWorker {
  run: string
  host: string | null
  pid: string | null
  version: string | null
  contracts: { oldest: number | null; newest: number | null } | null
  started_at: string
  seen_at: string
  in_flight: number | null
  /** Within the last minute. */
  delivered: number | null
  status: 'live' | 'draining' | 'silent'
}

/** The result of the SQL function `list_workers`. */
export interface Workers {
  at: string
  contracts: ContractRange
  workers: ListedWorker[]
  problems: string[]
}

/** Prints the workers of all hosts, and returns the exit code. It changes nothing. */
export async function workers(options: WorkersOptions, terminal: Terminal): Promise<number> {
  const target = await readTarget(options, process.env, terminal, 'workers')
  if ('says' in target) {
    terminal.printError(target.says)
    return target.code
  }
  const read = await callDataApi<Workers>(target, 'list_workers', {})
  if (!read.ok) {
    const advice = read.problem.kind === 'missing'
      ? 'upgrade the database, which is older than this command'
      : 'outhook check says what to do'
    terminal.printError(`The database cannot be read: ${read.problem.message}. ${advice}`)
    return exitCodes.failed
  }
  terminal.print(options.json ? JSON.stringify(read.data, null, 2) : showWorkers(read.data))
  return exitCodes.done
}

/** The workers as a table, with a summary and the problems below it. */
export function showWorkers({ at, contracts, workers, problems }: Workers): string {
  const rows = workers.map((worker) => [
    worker.host,
    worker.pid,
    worker.version,
    rangeText(worker.contracts),
    worker.status,
    worker.in_flight,
    worker.delivered,
    ago(at, worker.seen_at),
    worker.started_at,
  ])
  const table = rows.length === 0 ? 'There are no workers' : showTable(
    ['host', 'pid', 'version', 'contract', 'status', 'in flight', 'last minute', 'seen', 'started'],
    rows,
  )
  return [
    table,
    ...rows.length === 0 ? [] : ['', summary(workers, contracts)],
    ...problems.map((problem) => `problem: ${problem}`),
  ].join('\n')
}

function summary(workers: readonly ListedWorker[], contracts: ContractRange): string {
  const live = workers.filter(({ status }) => status === 'live')
  const delivered = live.reduce((sum, worker) => sum + (worker.delivered ?? 0), 0)
  const versions = new Set(live.map(({ version }) => version ?? 'older'))
  const hosts = new Set(live.map(({ host }) => host)).size
  return `${live.length} live on ${hosts} ${hosts === 1 ? 'host' : 'hosts'}, ` +
    `${delivered} delivered in the last minute, ` +
    `${versions.size > 1 ? `versions ${[...versions].sort().join(', ')}, ` : ''}` +
    `database with contract ${rangeText(contracts)}`
}

function rangeText(range: ListedWorker['contracts']): string | null {
  if (range === null || range.newest === null) return null
  const { oldest, newest } = range
  return oldest === newest ? String(newest) : `${oldest} to ${newest}`
}

/** How long ago by the clock of the database. */
function ago(now: string, time: string): string {
  return `${Math.max(0, Math.round((Date.parse(now) - Date.parse(time)) / 1_000))} s ago`
}
