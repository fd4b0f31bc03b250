/** Three databases that take all events of one organisation, and endpoints that move between them. */

import type { MoveDatabase } from '../../../package/command/move_org/database.ts'
import { homeOf } from '../../../package/command/spread_org/plan.ts'
import type { SpreadInput } from '../../../package/command/spread_org/spread.ts'
import { createEndpoint, type Project } from './org_move.ts'

/** The organisation that has several databases. */
export const org = 'org-1'

/** The databases by their names. */
export type Projects = ReadonlyMap<string, Project>

/** The input of the moves between all of these databases; `more` replaces members. */
export function spreadInput(projects: Projects, more: Partial<SpreadInput> = {}): SpreadInput {
  return {
    org,
    databases: new Map([...projects].map(([name, { move }]) => [name, move])),
    names: [...projects.keys()],
    pause: () => new Promise((done) => setTimeout(done, 20)),
    waitMs: 30_000,
    now: () => performance.now(),
    say: () => {},
    ...more,
  }
}

/** A database of the stream: takes event number `n`, as `outhook consume` does. */
export async function take({ sql }: Project, numbers: readonly number[]): Promise<void> {
  const events = numbers.map((n) => ({
    id: `source-${n}`,
    type: 'a',
    body: `{"n": ${n}}`,
    org_id: org,
    partition_key: `key-${n % 3}`,
    idempotency_key: `source-${n}`,
  }))
  await sql`select outbox.take_events('into', ${JSON.stringify(events)}::text::jsonb)`
}

/** Creates endpoints until one of them belongs in `home`, and returns its id. The others are removed. */
export async function endpointFor(
  project: Project,
  names: readonly string[],
  home: string,
): Promise<string> {
  while (true) {
    const id = await createEndpoint(project, org, ['a'], { p_ordering: 'partition' })
    if (homeOf(names, id) === home) return id
    await project.sql`select outbox.delete_endpoint(${id})`
  }
}

/** The databases in which an endpoint is enabled. */
export async function enabledIn(projects: Projects, endpoint: string): Promise<string[]> {
  const found: string[] = []
  for (const [name, { sql }] of projects) {
    const rows = await sql`
      select from outbox.endpoint e where e.id = ${endpoint} and e.status = 'enabled'`
    if (rows.length > 0) found.push(name)
  }
  return found
}

/** A side that fails at its first call of `name`, before or after it has been carried out. */
export function failing(
  move: MoveDatabase,
  name: string,
  when: 'before' | 'after',
): MoveDatabase {
  let isDone = false
  const wrap = (call: MoveDatabase['call']): MoveDatabase['call'] => async (called, ...rest) => {
    const fails = called === name && !isDone
    if (fails) isDone = true
    if (fails && when === 'before') throw new Error('killed')
    const result = await call(called, ...rest)
    if (fails) throw new Error('killed')
    // deno-lint-ignore no-explicit-any
    return result as any
  }
  return {
    ...move,
    call: wrap(move.call),
    within: (work) => move.within((call) => work(wrap(call))),
  }
}

/** A side that tells what is called in its transactions, before it is. */
export function watched(move: MoveDatabase, tell: (name: string) => unknown): MoveDatabase {
  return {
    ...move,
    within: (work) =>
      move.within((call) =>
        work(async (name, ...rest) => {
          await tell(name)
          return await call(name, ...rest)
        })
      ),
  }
}

/** A side that tells what was called in its transactions, after it was. */
export function told(move: MoveDatabase, tell: (name: string) => unknown): MoveDatabase {
  return {
    ...move,
    within: (work) =>
      move.within((call) =>
        work(async (name, ...rest) => {
          // deno-lint-ignore no-explicit-any
          const result = await call<any>(name, ...rest)
          await tell(name)
          return result
        })
      ),
  }
}

/** Where a stream stops while somebody asks for it. */
export interface Rest {
  /** Resolves when the stream has stopped. */
  begin(): Promise<void>
  /** Lets the stream go on. */
  end(): void
  /** The stream waits here if it has to stop. */
  here(): Promise<void>
}

export function createRest(): Rest {
  let isResting = false
  const asked: { begun: PromiseWithResolvers<void>; over: PromiseWithResolvers<void> }[] = []
  return {
    async begin(): Promise<void> {
      const one = { begun: Promise.withResolvers<void>(), over: Promise.withResolvers<void>() }
      asked.push(one)
      if (!isResting) await one.begun.promise
    },
    end(): void {
      isResting = false
      for (const { over } of asked.splice(0)) over.resolve()
    },
    async here(): Promise<void> {
      isResting = asked.length > 0
      for (const { begun } of asked) begun.resolve()
      await Promise.all(asked.map(({ over }) => over.promise))
    },
  }
}
