import { confirm } from '@clack/prompts'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DatabaseOptions, givenDatabases } from '../across/databases.ts'
import { connectMove, type MoveDatabase } from '../move_org/database.ts'
import { closing } from '../move_org/ending.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import { comparePairs } from './compare.ts'
import { type Plan, planMoves, whyNoSpread } from './plan.ts'
import { whyNotRouted } from './routed.ts'
import { readPlaces, spread, type SpreadInput } from './spread.ts'

/** The options of `outhook spread-org`. */
export interface SpreadOrgOptions extends DatabaseOptions {
  /** The file with the routes of `outhook consume`. */
  routes: string
  /** Names of databases that keep no endpoint of the organisation. */
  empty: string[]
  /** How long to wait until two databases have taken the same events, in seconds. */
  wait: number
  dryRun: boolean
  yes: boolean
}

/** What it needs of the outside. */
export interface SpreadOrgDeps {
  env: Readonly<Record<string, string | undefined>>
  readFile(path: string): Promise<string>
  terminal: Terminal
}

/** Moves each endpoint of an organisation to the database of its hash, and returns the exit code. */
export async function runSpreadOrg(
  org: string,
  options: SpreadOrgOptions,
  { env, readFile, terminal }: SpreadOrgDeps,
): Promise<number> {
  const named = await givenDatabases(options, env, readFile)
  const wrong = typeof named === 'string'
    ? named
    : wrongEmpty(named, options) ?? await whyNotRouted(
      { org, routes: options.routes, names: named.map(({ name }) => name), empty: options.empty },
      readFile,
    )
  if (typeof named === 'string' || wrong !== null) {
    terminal.printError(String(wrong))
    return exitCodes.usage
  }
  const databases = new Map<string, MoveDatabase>(
    named.map(({ name, url }) => [name, connectMove(url, name, 'spread-org')]),
  )
  return await closing(databases.values(), terminal, () =>
    carryOut(
      {
        org,
        databases,
        names: [...databases.keys()].filter((name) => !options.empty.includes(name)),
        pause: () => sleep(500),
        waitMs: options.wait * 1_000,
        now: () => performance.now(),
        say: (text) => terminal.printError(text),
      },
      options,
      terminal,
    ))
}

function wrongEmpty(
  named: readonly { name: string }[],
  { empty }: Pick<SpreadOrgOptions, 'empty'>,
): string | null {
  const unknown = empty.find((name) => !named.some((one) => one.name === name))
  if (unknown !== undefined) return `--empty ${unknown} is not one of --database`
  return named.every(({ name }) => empty.includes(name))
    ? 'Give at least one --database that is not --empty'
    : null
}

async function carryOut(
  input: SpreadInput,
  { dryRun, yes }: Pick<SpreadOrgOptions, 'dryRun' | 'yes'>,
  { isInteractive, print, printError }: Terminal,
): Promise<number> {
  const places = await readPlaces(input)
  const plan = planMoves(places, input.names)
  print(showPlan(input.org, plan))
  const reasons = whyNoSpread(places, plan)
  if (reasons.length > 0) {
    printError(reasons.join('\n'))
    return exitCodes.failed
  }
  if (dryRun) {
    const found = await comparePairs(input.org, input.databases, plan.moves)
    if (found.length > 0) print(found.join('\n'))
    return exitCodes.done
  }
  if (plan.moves.length + plan.arrivals.length === 0) return codeOf(plan)
  if (!yes && (!isInteractive || await confirm({ message: 'Move them?' }) !== true)) {
    printError('Nothing was changed: confirm it with --yes')
    return exitCodes.undecided
  }
  const left = await spread(input)
  print(showPlan(input.org, left))
  return codeOf(left)
}

function codeOf({ moves, arrivals, staying }: Plan): number {
  return moves.length + arrivals.length + staying.length === 0 ? exitCodes.done : exitCodes.findings
}

/** The plan as text: one line for each endpoint that is not where it belongs. */
export function showPlan(org: string, { moves, arrivals, staying, atHome }: Plan): string {
  return [
    `Endpoints of ${org} where they belong: ${atHome}, to move: ${moves.length}, ` +
    `on their way: ${arrivals.length}, staying for now: ${staying.length}`,
    ...moves.map(({ id, from, to }) => `${id} moves from ${from} to ${to}`),
    ...arrivals.map(({ id, from, to }) => `${id} is on its way from ${from} to ${to}`),
    ...staying,
  ].join('\n')
}
