/**
 * What WhatsApp's callbacks cost: CPU of the function for a full one (1,000 statuses, 2.9 MB), latency of one with ten
 * updates, and updates a second with eight callers; all through the stack's gateway, each status new and of a message of
 * its own. CPU is read from /proc.
 *
 *   deno run -A tests/bench/callbacks.ts [--full 5] [--posts 400] [--seconds 10] [--callers 8]
 */

import { parseArgs } from 'node:util'
import postgres, { type Sql } from 'postgres'
import { print } from '../../supabase/local/print.ts'
import { type Stack, startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'
import { bodyOf, changeOf, postCallback } from '../../supabase/local/whatsapp/callbacks.ts'

const { values } = parseArgs({
  options: {
    full: { type: 'string', default: '5' },
    posts: { type: 'string', default: '400' },
    seconds: { type: 'string', default: '10' },
    callers: { type: 'string', default: '8' },
  },
})
const number = '100000000000001'
const waba = '200000000000001'
const secret = 'app-secret'

/** So many messages that WhatsApp has taken, `wamid.1` and so on. */
async function prepare(sql: Sql, count: number): Promise<string> {
  const [row] = await sql`select outbox.put_whatsapp_app('9', ${secret}) ->> 'appKey' as key`
  const [channel] = await sql`
    select outbox.create_channel('org-bench', ${number}, ${waba}, '9', 'token') ->> 'id' as id`
  await sql`
    with m as (
      insert into outbox.outbound_message (org_id, dossier_id, channel, to_recipient, template_code,
        payload_json, status, provider_message_id, idempotency_key, attempt_count, created_at,
        updated_at, channel_id, event_id, content, category, sent_at)
      select 'org-bench', 'dossier-' || n % 100, 'WHATSAPP', '+1202555' || lpad((n % 10000)::text, 4, '0'),
        'reminder', '{}', 'SENT', 'wamid.' || n, 'k' || n, 1, now(), now(), ${channel?.id}::uuid,
        gen_random_uuid(), '', 'UTILITY', now()
      from generate_series(1, ${count}::int) n
      returning id, event_id, provider_message_id
    )
    insert into outbox.message_attempt (message_id, attempt_no, status, created_at, updated_at,
      event_id, claim, phone_number_id, wamid)
    select m.id, 1, 'SUCCESS', now(), now(), m.event_id, 1, ${number}, m.provider_message_id from m`
  await sql`analyze outbox.outbound_message, outbox.message_attempt`
  return row?.key
}

let next = 1

/** A body of `count` statuses, each of the next message, each with so many more characters. */
function nextBody(count: number, padding = 0): string {
  const statuses = Array.from({ length: count }, () => ({
    id: `wamid.${next++}`,
    status: 'delivered',
    timestamp: String(Math.floor(Date.now() / 1000)),
    recipient_id: '12025550111',
    pricing: { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' },
    ...padding === 0 ? {} : { conversation: { id: 'é'.repeat(padding / 2) } },
  }))
  return bodyOf(waba, [changeOf(number, { statuses })])
}

/** User and system time of a process, in ms; the kernel counts ticks of 10 ms. */
function cpuMs(pid: number): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function quantile(numbers: number[], q: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? NaN
}

async function measure(stack: Stack, sql: Sql): Promise<void> {
  const full = Number(values.full)
  const posts = Number(values.posts)
  const seconds = Number(values.seconds)
  const key = await prepare(sql, full * 1000 + 1000 + posts * 10 + seconds * 6000)
  const target = { url: `${stack.apiUrl}/functions/v1/whatsapp/inbound/${key}`, secret }

  /** Milliseconds from the call to the answer, which must say that each was new and applied. */
  async function post(body: string, updates: number): Promise<number> {
    const started = performance.now()
    const answer = await postCallback(target, body)
    const ms = performance.now() - started
    const { stored, applied } = answer.body
    if (answer.status !== 200 || stored !== updates || applied !== updates) {
      throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
    }
    return ms
  }

  for (let n = 0; n < 50; n++) await post(nextBody(10), 10)

  const pid = stack.functions.pid('whatsapp')
  if (pid === null) throw new Error('the function does not run')
  let bytes = 0
  const fulls: { ms: number; cpu: number }[] = []
  for (let n = 0; n < full; n++) {
    const body = nextBody(1000, 2650)
    bytes = new TextEncoder().encode(body).length
    const before = cpuMs(pid)
    const ms = await post(body, 1000)
    fulls.push({ ms, cpu: cpuMs(pid) - before })
  }
  const worst = (of: (one: { ms: number; cpu: number }) => number): string =>
    Math.max(...fulls.map(of)).toFixed(0)
  print(
    `1,000 statuses, ${(bytes / 1e6).toFixed(1)} MB: at most ${
      worst(({ cpu }) => cpu)
    } ms of the ` +
      `function's CPU, answered within ${worst(({ ms }) => ms)} ms (${full} times)`,
  )

  const times: number[] = []
  for (let n = 0; n < posts; n++) times.push(await post(nextBody(10), 10))
  print(
    `10 updates: p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${
      quantile(times, 0.95).toFixed(1)
    } ms, ` +
      `p99 ${quantile(times, 0.99).toFixed(1)} ms (${posts} one after the other)`,
  )

  for (const per of [10, 100]) {
    const began = performance.now()
    const until = began + seconds * 500
    const call = async (): Promise<number> => {
      let done = 0
      for (; performance.now() < until; done += per) await post(nextBody(per), per)
      return done
    }
    const done = await Promise.all(Array.from({ length: Number(values.callers) }, call))
    const rate = done.reduce((sum, one) => sum + one) / (performance.now() - began) * 1000
    print(`${values.callers} callers, ${per} updates each: ${Math.round(rate)} updates a second`)
  }
}

const dataDir = testFolder()
const stack = await startStack({ dataDir, ports: 'free' })
const sql = postgres(stack.dbUrl, { max: 1, onnotice: () => {} })
try {
  await stack.functions.targets.get('whatsapp')?.origin(20_000)
  await measure(stack, sql)
} finally {
  await sql.end()
  await stack.stop()
  await Deno.remove(dataDir, { recursive: true })
}
