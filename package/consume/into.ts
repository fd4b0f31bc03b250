/** What `outhook consume` runs. It is a module of its own, because it contains the clients of the brokers. */

import { readKafkaAccess, readRabbitMqAccess } from '../../consumer/access.ts'
import { readDatabases } from '../../consumer/into/databases.ts'
import { consumeInto, type IntoOptions, type Totals } from '../../consumer/into/into.ts'
import { readRoutes, type Routes } from '../../consumer/into/routes.ts'
import { readSource } from '../../consumer/options.ts'
import { messageOf } from '../../functions/_shared/base/errors.ts'
import { createLog } from '../../functions/_shared/base/log.ts'

/** The options of `outhook consume`. */
export interface IntoFlags {
  queue?: string
  topic?: string
  into: string[]
  routes?: string
  consumer: string
  dlq?: string
  batch: number
  json: boolean
}

/** What it needs of the outside. */
export interface IntoDeps {
  env: Readonly<Record<string, string | undefined>>
  readFile(path: string): Promise<string>
  print(text: string): void
  printError(text: string): void
  stop: AbortSignal
}

/** The time limit of one transaction. */
const timeoutMs = 15_000

/** Consumes until the signal, and returns the exit code: 0, or 2 for wrong usage. */
export async function runInto(flags: IntoFlags, deps: IntoDeps): Promise<number> {
  const { env, print, printError, stop } = deps
  const setup = await readSetup(flags, deps)
  if (typeof setup === 'string') {
    printError(setup)
    return 2
  }
  const log = createLog({
    debug: env.OUTHOOK_DEBUG === '1' || env.OUTHOOK_DEBUG === 'true',
    write: (text) => printError(text.trimEnd()),
  })
  const totals = await consumeInto({ ...setup, timeoutMs, log, stop })
  print(flags.json ? JSON.stringify(totals) : wordsOf(totals))
  return 0
}

type Setup = Omit<IntoOptions, 'timeoutMs' | 'log' | 'stop'>

/** The options, or the first problem as a sentence without a secret. */
async function readSetup(flags: IntoFlags, { env, readFile }: IntoDeps): Promise<Setup | string> {
  const source = readSource(flags)
  if (typeof source === 'string') return source
  const { consumer, dlq = `${source.name}.dlq`, batch: most } = flags
  if (!/^[A-Za-z0-9_.:-]{1,64}$/.test(consumer)) {
    return '--consumer must be 1 to 64 letters, digits, _ . : -, such as into'
  }
  if (dlq === source.name) return '--dlq is the source of the messages: set another name'
  const databases = readDatabases(flags.into, env)
  if (typeof databases === 'string') return databases
  const names = databases.map(({ name }) => name)
  try {
    const routes: Routes | string = flags.routes === undefined
      ? { names, entries: new Map() }
      : readRoutes(await readFile(flags.routes), names)
    if (typeof routes === 'string') return `--routes ${flags.routes} ${routes}`
    const { name } = source
    return {
      source: source.kind === 'queue'
        ? { kind: 'queue', name, access: await readRabbitMqAccess(env, readFile) }
        : { kind: 'topic', name, access: await readKafkaAccess(env, readFile) },
      databases,
      routes,
      consumer,
      dlq,
      most,
    }
  } catch (error) {
    return messageOf(error)
  }
}

function wordsOf(totals: Totals): string {
  return Object.entries(totals).map(([name, { taken, known, dead }]) =>
    `${name}: ${taken} taken, ${known} known before, ${dead} dead letters`
  ).join('\n')
}
