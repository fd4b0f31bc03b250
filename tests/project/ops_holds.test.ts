/** Whatever holds deliveries: the command that the console gives for it, run as it stands, mends it. */

import { expect } from '@std/expect'
import postgres, { type Sql } from 'postgres'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { withMigrations } from '../_support/postgres.ts'
import { askOps, type Row } from '../_support/ops.ts'
import { patienceMs } from '../_support/patience.ts'

type Delivery = { event: string; endpoint: string; attempt: number }
type Claim = { deliveries: Delivery[]; endpoints: Record<string, { channel?: Channel }> }
type Channel = { access_token: string; graph_url: string }

/** What a claim reports of a delivery, beside its outcome. */
type Failure = Record<string, string | number | { subcode: string }>

let pg: Postgres
let sql: Sql
let count = 0

/** What the server has said to the session beside its results. */
const notices: string[] = []

/**
 * A call by a new run, because one that was told to end gets nothing more. With limit 0 it claims
 * nothing: what a caller drops would wait for the end of its lease.
 */
async function dispatch(
  results: readonly (Delivery & Failure)[] = [],
  limit = 100,
): Promise<Claim> {
  const [row] = await sql`
    select outbox.dispatch(gen_random_uuid(), 1, ${sql.json(results)}, ${limit}, 'worker')::jsonb
      as claim`
  return row?.claim
}

/** Claims, after the tick that wakes what a person has changed. */
async function claim(endpoint: string): Promise<{ claim: Claim; deliveries: Delivery[] }> {
  await sql`select outbox.tick()`
  const claim = await dispatch()
  const deliveries = claim.deliveries.filter((one) => one.endpoint === endpoint)
  return { claim, deliveries }
}

/** Claims what an endpoint has, and has its first delivery fail so; the others are given back. */
async function fail(endpoint: string, failure: Failure): Promise<void> {
  const { deliveries } = await claim(endpoint)
  expect(deliveries.length).toBeGreaterThan(0)
  await dispatch(
    deliveries.map((one, index) => ({
      ...one,
      ...index === 0 ? { outcome: 'failed', duration_ms: 1, ...failure } : { outcome: 'released' },
    })),
    0,
  )
}

/** An endpoint with two events of each key, once they are routed. */
async function endpoint(
  { ordering = 'none', keys = [null] }: { ordering?: string; keys?: (string | null)[] } = {},
): Promise<string> {
  const [made] = await sql`
    select outbox.create_endpoint(${`https://example.com/${++count}`}, '{none}',
      p_ordering => ${ordering}) ->> 'id' as id`
  const id: string = made?.id
  await sql`update outbox.endpoint set on_dead_letter = 'halt' where id = ${id}`
  const events = [...keys, ...keys].map((key) => ({
    type: 'thing.done',
    payload: {},
    endpoint_id: id,
    partition_key: key,
  }))
  await sql`select outbox.publish_many(${sql.json(events)})`
  await dispatch([], 0)
  return id
}

/** A channel with a message for each of two people. */
async function channel(): Promise<string> {
  const number = String(100 + ++count)
  const org = `org-${number}`
  const [made] = await sql`
    select outbox.create_channel(${org}, ${number}, '9', '1', 'token-dead') ->> 'id' as id,
      outbox.put_template(${org}, 'reminder', 'appointment_reminder', 'fr', 'UTILITY')`
  for (const to of ['+12025550111', '+12025550112']) {
    await sql`select outbox.create_message(${org}, ${to}, '{"parameters": ["A"]}', 'reminder')`
  }
  await dispatch([], 0)
  return made?.id
}

async function lineOf(number: string, endpoint: string): Promise<Row> {
  const row = (await askOps(pg, number)).find(({ endpoint_id }) => endpoint_id === endpoint)
  if (row === undefined) throw new Error(`${number} does not name ${endpoint}`)
  return row
}

/** Runs a command of the console; returns what the server says of it, an error included. */
async function run(command = ''): Promise<string> {
  expect(command).toMatch(/^select outbox\./)
  notices.length = 0
  await sql.unsafe(command).catch((error) => notices.push(String(error)))
  return notices.join('\n')
}

/** Whether something of it is sent again; its run then gives it back. */
async function isServed(endpoint: string): Promise<Claim | null> {
  const { claim: got, deliveries } = await claim(endpoint)
  await dispatch(got.deliveries.map((one) => ({ ...one, outcome: 'released' })), 0)
  return deliveries.length > 0 ? got : null
}

/** Asks query 02, runs what it says, and gives the claim after it. */
async function mend(endpoint: string, why: string | RegExp): Promise<Claim> {
  expect(await isServed(endpoint)).toBeNull()
  const row = await lineOf('02', endpoint)
  if (typeof why === 'string') expect(row.why).toBe(why)
  else expect(row.why).toMatch(why)
  expect(await run(row.command)).toBe('')
  const claim = await isServed(endpoint)
  expect({ why, served: claim !== null }).toEqual({ why, served: true })
  await sql`select outbox.delete_endpoint(${endpoint})`
  // SAFETY: just looked at.
  return claim as Claim
}

Deno.test('what holds deliveries is mended by the command that 02 gives', async (t) => {
  await withMigrations(async (started) => {
    pg = started
    sql = postgres(pg.dbUrl, {
      max: 1,
      onnotice: ({ message = '' }) => void notices.push(message),
    })
    try {
      await sql`select cron.alter_job(jobid, active => false) from cron.job`
      await sql`select outbox.put_whatsapp_app('1', 'app-secret')`
      await webhooks(t)
      await channels(t)
    } finally {
      await sql.end()
    }
  })
})

async function webhooks(t: Deno.TestContext): Promise<void> {
  await t.step('delivery is switched off', async () => {
    const id = await endpoint()
    await sql`select outbox.set_setting('worker.enabled', 'false')`
    await mend(id, 'held, delivery is switched off')
  })

  await t.step('an endpoint that a person paused or disabled', async () => {
    for (const change of ['pause', 'disable']) {
      const id = await endpoint()
      await sql.unsafe(`select outbox.${change}_endpoint('${id}', 'it moves')`)
      await mend(id, `held, the endpoint is ${change}d: it moves`)
    }
  })

  await t.step('an endpoint that answered 410', async () => {
    const id = await endpoint()
    await fail(id, { status: 410 })
    await mend(id, 'held, the endpoint is disabled: gone')
  })

  await t.step('an endpoint that failed for days', async () => {
    const id = await endpoint()
    await sql`
      update outbox.gate set first_failure_at = now() - interval '6 days' where endpoint_id = ${id}`
    await fail(id, { status: 500 })
    await mend(id, 'held, the endpoint is disabled: failing_for_days')
  })

  await t.step('a key behind a dead letter, alone and beside another', async () => {
    const why = 'held, a key is halted after a dead letter'
    const alone = await endpoint({ ordering: 'partition', keys: ["it's one"] })
    await fail(alone, { status: 404 })
    await mend(alone, why)
    const whole = await endpoint({ ordering: 'endpoint' })
    await fail(whole, { status: 404 })
    await mend(whole, why)

    const beside = await endpoint({ ordering: 'partition', keys: ['a', 'b'] })
    const outcomes: Failure[] = [{ outcome: 'failed', status: 404 }, { outcome: 'delivered' }]
    const claimed = (await claim(beside)).deliveries.sort((a, b) => a.event < b.event ? -1 : 1)
    await dispatch(claimed.map((one, index) => ({
      ...one,
      ...outcomes[index] ?? { outcome: 'released' },
    })))
    const row = await lineOf('02', beside)
    expect(row).toMatchObject({ why, open_deliveries: '2' })
    const halted = `select count(*) from outbox.lane l join outbox.gate g on g.id = l.gate_id
      where g.endpoint_id = '${beside}' and l.halted`
    expect((await pg.psql(halted)).stdout.trim()).toBe('1')
    expect(await run(row.command)).toBe('')
    expect((await pg.psql(halted)).stdout.trim()).toBe('0')
    await sql`select outbox.delete_endpoint(${beside})`
  })

  await t.step('an open breaker needs no command', async () => {
    const id = await endpoint({ keys: ['1', '2', '3', '4', '5'] })
    await sql`update outbox.endpoint set breaker_threshold = 1, breaker_open_ms = 1000
      where id = ${id}`
    await fail(id, { status: 500 })
    const row = await lineOf('02', id)
    expect(row.why).toMatch(/^held, the breaker is open, its next probe is at /)
    expect(row.command).toBe('')
    // The probe is in flight until its result comes.
    const probed = async (): Promise<boolean> => (await claim(id)).deliveries.length > 0
    expect(await waitUntil(probed, { timeoutMs: patienceMs })).toBe(true)
    expect((await lineOf('02', id)).why).toMatch(/breaker is half open, its probe is in flight/)
    await sql`select outbox.delete_endpoint(${id})`
  })

  await t.step('an endpoint whose signing secret cannot be read', async () => {
    const id = await endpoint()
    await sql`delete from vault.secrets v using outbox.endpoint_secret s
      where s.endpoint_id = ${id} and v.id = s.vault_id`
    await mend(id, /^held, the endpoint is paused: unreadable: the signing secret .*rotate_secret/)
  })

  await t.step(
    'an endpoint whose headers cannot be read, once their values are filled in',
    async () => {
      const id = await endpoint()
      await sql`select outbox.set_headers(${id}, '{"authorization": "Bearer 1"}')`
      await sql`delete from vault.secrets v using outbox.endpoint e
      where e.id = ${id} and v.id = e.headers_vault_id`
      expect(await isServed(id)).toBeNull()
      const row = await lineOf('02', id)
      expect(row.why).toMatch(/paused: unreadable: the set of custom headers .*set_headers/)
      expect(await run(row.command)).toContain('headers.authorization')
      expect(await run(row.command?.replace('""', '"Bearer 2"'))).toBe('')
      expect(await isServed(id)).not.toBeNull()
      await sql`select outbox.delete_endpoint(${id})`
    },
  )

  await t.step('a delivery whose result the database refused three times', async () => {
    const [made] = await sql`
      select outbox.create_endpoint('https://example.com/aside', '{none}',
        p_retry => '{"strategy": "fixed", "base_delay": 0, "jitter": false}') ->> 'id' as id`
    const id: string = made?.id
    await sql`select outbox.publish('thing.done', '{}', p_endpoint_id => ${id})`
    await sql`alter table outbox.attempt
      add constraint t_poison check (response is distinct from 'POISON') not valid`
    const served = async (): Promise<boolean> => (await claim(id)).deliveries.length > 0
    for (let attempts = 1; attempts <= 3; attempts++) {
      let deliveries: Delivery[] = []
      await waitUntil(async () => (deliveries = (await claim(id)).deliveries).length > 0, {
        timeoutMs: 10_000,
      })
      await dispatch(
        deliveries.map((one) => ({
          ...one,
          outcome: 'delivered',
          status: 200,
          response: 'POISON',
        })),
        0,
      )
    }
    await sql`alter table outbox.attempt drop constraint t_poison`
    expect(await served()).toBe(false)
    expect((await askOps(pg, '01')).find(({ runbook }) => runbook === 'Refused')).toMatchObject({
      status: 'error',
      result: expect.stringContaining('1 deliveries set aside, such as: 23514'),
    })
    await mend(id, /^set aside, the database refused its result: 23514 /)
  })

  await t.step('an event for later is not stuck, one beside it may be', async () => {
    const [made] = await sql`
      select outbox.create_endpoint('https://example.com', '{none}') ->> 'id' as id`
    const id: string = made?.id
    await sql`
      select outbox.publish('later', '{}', p_endpoint_id => ${id},
        p_deliver_at => now() + interval '1 day')`
    await dispatch([], 0)
    expect((await askOps(pg, '02')).filter(({ endpoint_id }) => endpoint_id === id)).toEqual([])
    await sql`select outbox.publish('now', '{}', p_endpoint_id => ${id})`
    await dispatch([], 0)
    expect((await lineOf('02', id)).why).toMatch(/^due since /)
    await sql`select outbox.delete_endpoint(${id})`
  })
}

/** The code of each rule that holds a channel and what its first delivery is told of it. */
async function holdingRules(): Promise<{ code: string; title: string; new_token: boolean }[]> {
  return await sql`
    select f.code, f.title, f.new_token from outbox.failure_rule f
    where f.kind = 'whatsapp' and f.action in ('hold', 'fail_hold')
      -- Of a hundred alike the first.
      and not (length(f.code) = 3 and f.code between '201' and '299')
    order by f.code`
}

function failureOf(code: string): Failure {
  if (code === 'blocked') return { error_class: 'blocked' }
  if (code === 'invalid_token') return { error_class: 'protocol', code }
  const [main = '', subcode] = code.split('.')
  const more = subcode === undefined ? {} : { provider: { subcode } }
  return { status: 400, error_class: 'provider', code: main, ...more }
}

async function channels(t: Deno.TestContext): Promise<void> {
  const rules = await holdingRules()
  expect(rules.filter(({ new_token }) => new_token).map(({ code }) => code)).toEqual([
    ...['0', '10', '100.33', '104', '131005', '190', '200', '3', 'invalid_token'],
  ])
  for (const { code, title, new_token } of rules) {
    await t.step(`a channel held for ${code}, ${title}`, async () => {
      const id = await channel()
      if (code === 'blocked') {
        await sql`select outbox.set_setting('whatsapp.graph_url', '"https://10.0.0.1"')`
      }
      await fail(id, failureOf(code))
      expect(await isServed(id)).toBeNull()
      const row = await lineOf('02', id)
      const [main] = code.split('.')
      expect(row.why).toBe(`held, the endpoint is paused: held: ${main} ${title}`)
      if (code === '190') {
        expect((await lineOf('03', id)).command).toBe(row.command)
        const waiting = (await askOps(pg, '15')).find(({ channel_id }) => channel_id === id)
        expect(waiting?.command).toBe(row.command)
      }
      let command = row.command ?? ''
      if (new_token) {
        // As it stands it changes nothing.
        expect(await run(command)).toContain(
          'accessToken is empty, longer than 2048 characters or not visible ASCII',
        )
        expect(await isServed(id)).toBeNull()
        command = command.replace('<the new token>', 'token-new')
      }
      expect(await run(command)).toBe('')
      const served = (await isServed(id))?.endpoints[id]?.channel
      expect(served).toMatchObject({
        access_token: new_token ? 'token-new' : 'token-dead',
        graph_url: 'https://graph.facebook.com',
      })
      await sql`select outbox.delete_endpoint(${id})`
    })
  }

  await t.step('a channel that WhatsApp restricted, whose token died as well', async () => {
    const id = await channel()
    await sql`
      select outbox.hold_channel(${id}, 'account', true, 'Account is restricted', now(), null, now()),
        outbox.hold_channel(${id}, 'failure', true, '190 Access token has expired', now(), null,
          now())`
    const row = await lineOf('02', id)
    expect(row.why).toBe('held, the endpoint is paused: held: Account is restricted')
    expect(await run(row.command?.replace('<the new token>', 'token-new'))).toBe('')
    expect((await isServed(id))?.endpoints[id]?.channel?.access_token).toBe('token-new')
    await sql`select outbox.delete_endpoint(${id})`
  })

  await t.step('a channel that a person paused', async () => {
    const id = await channel()
    await sql`select outbox.pause_endpoint(${id}, 'it moves')`
    await mend(id, 'held, the endpoint is paused: it moves')
  })
}
