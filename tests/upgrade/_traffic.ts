import postgres, { type Sql } from 'postgres'
import { setTimeout as delay } from 'node:timers/promises'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type Receiver, startReceiver } from '../e2e/receiver/receiver.ts'
import { patienceMs } from '../_support/patience.ts'

/** Publishers, a receiver and the tick of a database, from the fill until the end of a test. */
export interface Traffic extends AsyncDisposable {
  readonly sql: Sql
  readonly receiver: Receiver
  /** What publishers and ticks ran into. */
  readonly errors: string[]
  /** The ids of all events that publishers have published, oldest first. */
  readonly published: { id: string; type: string; key: string }[]
  /** From now on the endpoints `dead` respond with 200. */
  heal(): void
  /** Stops the publishers. */
  quiet(): Promise<void>
  /** Waits for a condition in SQL. */
  until(condition: string): Promise<void>
  /** How many events of publishers the receiver has. */
  arrived(): number
}

/** Fills the database with an endpoint in each state, and begins to publish. */
export async function beginTraffic(dbUrl: string): Promise<Traffic> {
  let isHealed = false
  const receiver = startReceiver({
    also: {
      dead: ({ answer }) => answer(isHealed ? 200 : 404),
    },
  })
  const sql = postgres(dbUrl, { max: 4, onnotice: () => {} })
  const errors: string[] = []
  const published: Traffic['published'] = []
  const ending = new AbortController()
  const stopped = new AbortController()

  async function repeat(
    signal: AbortSignal,
    pauseMs: number,
    work: () => Promise<void>,
  ): Promise<void> {
    while (!signal.aborted) {
      await work().catch((error: unknown) => errors.push(String(error)))
      await delay(pauseMs)
    }
  }

  async function publish(type: string, key: string): Promise<void> {
    const [row] = await sql`
      select outbox.publish(${type}, '{}', p_partition_key => ${key}) as id`
    published.push({ id: row?.id, type, key })
  }

  async function until(condition: string): Promise<void> {
    const holds = async (): Promise<boolean> => {
      const [row] = await sql.unsafe(`select (${condition}) as yes`)
      return row?.yes === true
    }
    if (!await waitUntil(holds, { timeoutMs: patienceMs })) throw new Error(`never: ${condition}`)
  }

  await fill(sql, receiver.url)
  const ticks = repeat(ending.signal, 200, async () => {
    await sql`select outbox.tick()`
  })
  let n = 0
  const publishers = ['plain.made', 'keyed.made'].map((type) =>
    repeat(stopped.signal, 20, () => publish(type, `key-${n++ % 7}`))
  )
  async function quiet(): Promise<void> {
    stopped.abort()
    await Promise.all(publishers)
  }

  return {
    sql,
    receiver,
    errors,
    published,
    heal(): void {
      isHealed = true
    },
    quiet,
    until,
    arrived(): number {
      const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
      return published.filter(({ id }) => ids.has(id)).length
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await quiet()
      ending.abort()
      await ticks
      await sql.end({ timeout: 1 })
      await receiver.close()
    },
  }
}

/** Endpoints by their words: the type of their events begins with it. */
async function fill(sql: Sql, url: string): Promise<void> {
  await sql`select outbox.set_setting('egress.allow_http', 'true'),
    outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8"]')`
  const create = async (word: string, path: string, more = ''): Promise<void> => {
    await sql.unsafe(
      `select outbox.create_endpoint('${url}/${path}', '{${word}.*}', p_description => '${word}'${more})`,
    )
  }
  await create('plain', 'plain')
  await create('keyed', 'keyed', `, p_ordering => 'partition'`)
  await create('waiting', 'waiting')
  await create('dead', 'dead')
  await create('broken', 'status/500')
  await sql`select outbox.pause_endpoint(id) from outbox.endpoint where description = 'waiting'`
  await sql`
    select outbox.publish(w || '.made', '{}')
    from unnest(array['waiting', 'dead', 'broken']) w, generate_series(1, 60)`
  // Messages that wait, and one that was cancelled: their channel is paused.
  await sql`select outbox.put_whatsapp_app('900000000000001', 'app-secret')`
  await sql`select outbox.pause_endpoint((outbox.create_channel('default', '100000000000001',
    '200000000000001', '900000000000001', 'token') ->> 'id')::uuid)`
  await sql`select outbox.put_template('default', 'reminder', 'appointment_reminder', 'fr', 'UTILITY')`
  await sql`
    select outbox.create_message('default', '+1202555' || (100 + n), '{"parameters": ["Anna"]}',
      'reminder', p_actor => 'tester')
    from generate_series(1, 3) n`
  await sql`
    select outbox.cancel_message('default', id::text, 'tester') from outbox.outbound_message limit 1`
}
