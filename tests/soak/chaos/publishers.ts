import postgres, { type Sql } from 'postgres'
import { Random } from '../../concurrency/_support/random.ts'
import type { Fate, Ledger, Publication } from './ledger.ts'
import { within } from './server.ts'

/** The types that are published. */
export const types = ['chaos.a', 'chaos.b', 'chaos.c'] as const

/** Keys of each publisher; no other one uses them, so that its order is theirs. */
const KEYS = 4
/** A transaction without a response for so long counts as unknown. */
const PATIENCE_MS = 10_000

/** Programs that publish and note what they committed. */
export interface Publishers {
  /** Resolves when none of them is in a transaction. */
  pause(): Promise<void>
  resume(): void
  stop(): Promise<void>
}

/** Starts `count` of them on the database at `url`, each with about `rate` transactions a second. */
export function startPublishers(
  { url, ledger, count, rate, seed }: {
    url: string
    ledger: Ledger
    count: number
    rate: number
    seed: number
  },
): Publishers {
  let isPaused = false
  let isStopped = false
  let busy = 0

  async function publish(publisher: number): Promise<void> {
    const random = new Random(seed * 1_000 + publisher)
    let sql = open(url)
    let n = 0
    while (!isStopped) {
      await pause(random.next() * 2_000 / rate)
      if (isPaused || isStopped) continue
      busy++
      const events = Array.from({ length: 1 + random.int(3) }, (): Publication => ({
        ref: `${publisher}:${n}`,
        id: null,
        publisher,
        n: n++,
        type: types[random.int(types.length)] ?? types[0],
        key: `key-${publisher}-${random.int(KEYS)}`,
        fate: 'maybe',
        began: Date.now(),
        ended: Infinity,
      }))
      ledger.publications.push(...events)
      const fate = await transact(sql, events, random)
      for (const event of events) {
        event.fate = fate
        if (event.ended === Infinity) event.ended = Date.now()
      }
      // A connection on which something has failed is not used again.
      if (fate !== 'committed') {
        void sql.end({ timeout: 0 }).catch(() => {})
        sql = open(url)
      }
      busy--
    }
    await sql.end({ timeout: 1 }).catch(() => {})
  }

  const working = Array.from({ length: count }, (_, publisher) => publish(publisher))
  return {
    async pause(): Promise<void> {
      isPaused = true
      while (busy > 0) await pause(20)
    },
    resume: () => isPaused = false,
    async stop(): Promise<void> {
      isStopped = true
      await Promise.all(working)
    },
  }
}

/** Publishes them in one transaction, of one of three forms. Never throws. */
async function transact(sql: Sql, events: Publication[], random: Random): Promise<Fate> {
  const form = random.int(10)
  const asked = { fate: 'rolled_back' as Fate }
  const work = form < 5 ? inSteps(sql, events, asked, form === 0) : atOnce(sql, events, asked)
  const end = await within(work.then(() => 'told', () => 'failed'), PATIENCE_MS)
  if (end === 'told') return asked.fate
  return asked.fate === 'rolled_back' ? 'rolled_back' : 'maybe'
}

/**
 * One in ten changes its mind. All in one message: after a lost connection, postgres.js 3.4.9 throws an error
 * that nobody can catch if a transaction of begin() continues.
 */
async function inSteps(
  sql: Sql,
  events: Publication[],
  asked: { fate: Fate },
  changesMind: boolean,
): Promise<void> {
  if (!changesMind) asked.fate = 'committed'
  const calls = events.map((event) =>
    `select outbox.publish('${event.type}', '${JSON.stringify(dataOf(event))}'::jsonb,
      p_partition_key => '${event.key}') as id`
  )
  const end = changesMind ? 'rollback' : 'commit'
  const results: unknown = await sql.unsafe(
    ['begin', ...calls, 'select pg_sleep(0.02)', end].join(';\n'),
  ).simple()
  // SAFETY: a message of several statements gives the rows of each.
  const sets = results as { id?: string }[][]
  events.forEach((event, at) => event.id = sets[at + 1]?.[0]?.id ?? null)
}

async function atOnce(sql: Sql, events: Publication[], asked: { fate: Fate }): Promise<void> {
  asked.fate = 'committed'
  const [row] = await sql<{ ids: string[] }[]>`
    select outbox.publish_many(${JSON.stringify(events.map(bodyOf))}::text::jsonb) as ids`
  events.forEach((event, at) => event.id = row?.ids[at] ?? null)
}

function bodyOf(event: Publication): Record<string, unknown> {
  return { type: event.type, payload: dataOf(event), partition_key: event.key }
}

function dataOf({ ref, n, key }: Publication): Record<string, unknown> {
  return { ref, n, key, pad: 'x'.repeat(n % 7 === 0 ? 4_000 : 40) }
}

function open(url: string): Sql {
  return postgres(url, { max: 1, connect_timeout: 5, fetch_types: false, onnotice: () => {} })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
