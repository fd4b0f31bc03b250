/** A change of an endpoint is in force for every event of the same transaction, and of every later one. */

import { expect } from '@std/expect'
import { Webhook } from 'standardwebhooks'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { type LiveRun, startRun } from './receiver/runs.ts'

const iterations = Deno.env.get('OUTHOOK_TESTS') === 'short' ? 40 : 200

let outhook: TestOuthook
let runs: LiveRun[] = []

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ functions: [] })
  runs = [1, 2].map(() => startRun(outhook.stack.dbUrl))
})
Deno.test.afterAll(async () => {
  await Promise.all(runs.map((live) => live.stop()))
  await outhook?.stop()
})

function secretOf(n: number): string {
  return `whsec_${btoa(String(n).padStart(32, 's'))}`
}

/** Publishes to other endpoints until it is stopped. */
function startLoad(): () => Promise<void> {
  let isOn = true
  async function publish(): Promise<void> {
    while (isOn) {
      await outhook.sql`select outbox.publish('load', '{}') from generate_series(1, 2)`
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const publishing = publish()
  return () => {
    isOn = false
    return publishing
  }
}

/** Resolves when a run has looked: an event published now has come. */
async function look(): Promise<void> {
  const [row] = await outhook.sql`select outbox.publish('look', '{}') as id`
  await outhook.requestsOf(row?.id, 1)
}

Deno.test(`a new URL, a new secret and a pause hold at once, ${iterations} times under load`, async () => {
  for (let n = 0; n < 5; n++) {
    await outhook.createEndpoint(`/load/${n}`, { p_event_types: ['load'] })
  }
  await outhook.createEndpoint('/look', { p_event_types: ['look'] })
  const { id } = await outhook.createEndpoint('/v/0', { p_event_types: ['changed'] })
  const stopLoad = startLoad()
  const published: string[] = []
  try {
    for (let n = 1; n <= iterations; n++) {
      const [paused] = await outhook.sql.begin((tx) => [
        tx`select outbox.pause_endpoint(${id})`,
        tx`select outbox.publish('changed', ${tx.json({ n })}) as id`,
      ]).then((answers) => answers[1] ?? [])
      await look()
      const url = `${outhook.receiver.url}/v/${n}`
      await outhook.sql.begin((tx) => [
        tx`update outbox.endpoint set url = ${url}, version = version + 1 where id = ${id}`,
        tx`select outbox.rotate_secret(${id}, ${secretOf(n)}, '0')`,
        tx`select outbox.resume_endpoint(${id})`,
        // Without it a resumed endpoint is served by and by.
        tx`update outbox.endpoint set ramp_from = 'epoch' where id = ${id}`,
        tx`select outbox.publish('changed', ${tx.json({ n })})`,
      ])
      published.push(paused?.id)
    }
    const arrived = (): number =>
      outhook.receiver.received.filter(({ path }) => path.startsWith('/v/')).length
    expect(await waitUntil(() => arrived() >= 2 * iterations, { timeoutMs: patienceMs })).toBe(true)
  } finally {
    await stopLoad()
  }
  const arrivals = outhook.receiver.received.filter(({ path }) => path.startsWith('/v/'))
  for (const { path, headers, body } of arrivals) {
    const text = new TextDecoder().decode(body)
    const { n } = JSON.parse(text).data
    const version = Number(path.slice('/v/'.length))
    expect([n, version, version >= n]).toEqual([n, version, true])
    new Webhook(secretOf(version)).verify(text, headers)
  }
  expect(published).toHaveLength(iterations)
})
