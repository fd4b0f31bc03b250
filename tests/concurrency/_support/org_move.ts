/** Two projects, and an organisation that moves between them. */

import type { Sql } from 'postgres'
import { connectMove, type MoveDatabase } from '../../../package/command/move_org/database.ts'
import { type MoveInput } from '../../../package/command/move_org/move.ts'
import { type OutboxDatabase, startOutbox } from './database.ts'
import { report, Run } from './dispatch.ts'

/** One project: its database, a session that works in it, and the connection of the command. */
export interface Project extends AsyncDisposable {
  readonly db: OutboxDatabase
  readonly sql: Sql
  readonly move: MoveDatabase
}

/** What a simulated receiver got: the project that sent it, the event, the endpoint and the attempt. */
export interface Arrival {
  project: Project
  event: string
  endpoint: string
  attempt: number
}

export async function startProject(name: string): Promise<Project> {
  const db = await startOutbox()
  const { sql } = await db.open()
  const move = connectMove(db.dbUrl, name, 'move-org')
  return {
    db,
    sql,
    move,
    async [Symbol.asyncDispose](): Promise<void> {
      await move.close()
      await db[Symbol.asyncDispose]()
    },
  }
}

/** The input of a move; `more` replaces members. */
export function moveInput(
  org: string,
  source: Project,
  target: Project,
  more: Partial<MoveInput> = {},
): MoveInput {
  return {
    org,
    source: source.move,
    target: target.move,
    from: 'one',
    to: 'two',
    run: crypto.randomUUID(),
    newId: () => crypto.randomUUID(),
    // Routes what waits.
    pause: async () => void await new Run(source.sql).call([], 0),
    waitMs: 60_000,
    now: () => performance.now(),
    say: () => {},
    ...more,
  }
}

/** Delivers what is due in a project, and notes it. `fails` says which attempts fail. */
export async function deliver(
  project: Project,
  arrivals: Arrival[],
  fails: (arrival: Arrival) => boolean = () => false,
): Promise<number> {
  const run = new Run(project.sql)
  let results: ReturnType<typeof report>[] = []
  let sent = 0
  while (true) {
    const answer = await run.call(results, 50)
    if (answer.error !== null) throw new Error(`dispatch: ${JSON.stringify(answer.error)}`)
    if (results.length + answer.routed + answer.deliveries.length === 0) return sent
    results = answer.deliveries.map((delivery) => {
      const { event, endpoint, attempt } = delivery
      const arrival = { project, event, endpoint, attempt }
      const isFailure = fails(arrival)
      if (!isFailure) {
        arrivals.push(arrival)
        sent++
      }
      return report(delivery, isFailure ? 'failed' : 'delivered')
    })
  }
}

/** The SQLSTATE of a call that is refused; null if it is not. */
export async function codeOf(work: Promise<unknown>): Promise<string | null> {
  return await work.then(() => null, (error) => error.code ?? String(error))
}

export async function createEndpoint(
  { sql }: Project,
  org: string,
  types: string[],
  more: Record<string, unknown> = {},
): Promise<string> {
  const names = Object.keys(more)
  const extra = names.map((name, at) => `, ${name} => $${at + 3}`).join('')
  const [row] = await sql.unsafe<{ id: string }[]>(
    `select outbox.create_endpoint('https://example.com/hook', $1::text[], $2${extra}) ->> 'id' as id`,
    // deno-lint-ignore no-explicit-any
    [types, org, ...Object.values(more)] as any,
  )
  return row?.id ?? ''
}

export async function publish(
  { sql }: Project,
  org: string,
  type: string,
  key: string | null = null,
  idempotencyKey: string | null = null,
): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select outbox.publish(${type}, '{}', ${org}, ${key}, p_idempotency_key => ${idempotencyKey}) as id`
  return row?.id ?? ''
}

/** A side that runs `beside` before its first call of `name`. */
export function before(
  side: Pick<Project, 'move'>,
  name: string,
  beside: () => Promise<unknown>,
): Project['move'] {
  let isDone = false
  return {
    ...side.move,
    call: async (called, ...rest) => {
      if (called === name && !isDone) {
        isDone = true
        await beside()
      }
      return await side.move.call(called, ...rest)
    },
  }
}
