/**
 * The overview: each number leads to a list of as many, and it says in words what is wrong. And the
 * timeline of an event, from its publication to what happens next.
 */

import { expect } from '@std/expect'
import type { Page } from 'playwright-core'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/patience.ts'
import { startConsole, type TestConsole } from './_support/console.ts'
import { makeSample, type Sample } from './_support/sample.ts'

let console_: TestConsole
let sample: Sample
let slow: { endpoint: string; event: string }

/** A delivery that failed once and is retried in 50 minutes. */
async function makeSlow({ outhook }: TestConsole): Promise<typeof slow> {
  const { id } = await outhook.createEndpoint('/status/503', {
    p_event_types: ['slow.*'],
    p_retry: { strategy: 'schedule', delays: [3000], max_retries: 5, jitter: false },
  })
  const [row] = await outhook.sql`select outbox.publish('slow.made', '{"id": 1}') as id`
  const hasFailed = async (): Promise<boolean> => {
    const [found] = await outhook.sql`
      select count(*) as n from outbox.attempt where event_id = ${row?.id}`
    return Number(found?.n) === 1
  }
  if (!await waitUntil(hasFailed, { timeoutMs: patienceMs })) throw new Error('no attempt')
  return { endpoint: id, event: row?.id }
}

/** An endpoint whose breaker is open, one that never responds, and an event and attempts of two hours ago. */
async function makeMore({ outhook }: TestConsole): Promise<void> {
  const once = { strategy: 'schedule', delays: [3000], max_retries: 5, jitter: false }
  const broken = await outhook.createEndpoint('/status/500', {
    ...{ p_event_types: ['broken.*'], p_retry: once },
  })
  await outhook.sql`
    update outbox.endpoint set breaker_enabled = true, breaker_threshold = 1, breaker_open_ms = 3600000
    where id = ${broken.id}`
  await outhook.createEndpoint('/hang', {
    ...{ p_event_types: ['hang.*'], p_retry: once, p_timeout_ms: 60_000 },
  })
  await outhook.sql`select outbox.publish('broken.made', '{}')`
  const isOpen = async (): Promise<boolean> => {
    const [row] = await outhook.sql`
      select breaker from outbox.gate where endpoint_id = ${broken.id}`
    return row?.breaker === 'open'
  }
  if (!await waitUntil(isOpen, { timeoutMs: patienceMs })) throw new Error('no open breaker')
  await outhook.sql`
    insert into outbox.event (id, org_id, type, body, created_at)
    select outbox.uuid_v7(now() - interval '2 h'), 'default', 'old.made', '{}', now() - interval '2 h'`
  await outhook.sql`
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
    select outbox.uuid_v7(now() - interval '2 h'), ${broken.id}::uuid, 1, now() - interval '2 h', 'attempt', o
    from unnest(array['delivered', 'failed']) o`
}

Deno.test.beforeAll(async () => {
  console_ = await startConsole()
  sample = await makeSample(console_.outhook)
  slow = await makeSlow(console_)
  await makeMore(console_)
})
Deno.test.afterAll(async () => {
  await console_?.stop()
})

/** The number of a tile of the overview, as it is written. */
async function numberOf(page: Page, tile: string): Promise<string> {
  const value = page.locator('.tile', { has: page.getByRole('link', { name: tile, exact: true }) })
  return (await value.locator('dd').evaluate((dd) => dd.firstChild?.textContent)) ?? ''
}

/** How many rows the list of the page has in all. */
async function rowsOf(page: Page): Promise<number> {
  const pager = page.locator('.pager span')
  const empty = page.locator('.empty')
  const status = page.getByRole('status').filter({ hasText: 'alive' })
  await pager.or(empty).or(status).first().waitFor()
  const older = page.getByRole('button', { name: 'Load older' })
  while (await older.isVisible()) {
    await older.click()
    await page.getByRole('button', { name: 'Loading' }).waitFor({ state: 'detached' })
  }
  return await page.locator('tbody tr').count()
}

const tiles: readonly (readonly [name: string, heading: string, least: number])[] = [
  ['Events', 'Events', 83],
  ['Delivered', 'Events', 60],
  ['Backlog', 'Events', 5],
  ['In flight', 'Events', 1],
  ['Retries due', 'Events', 1],
  ['Dead letters', 'Dead letters', 12],
  ['Failing endpoints', 'Endpoints', 3],
  ['Open breakers', 'Endpoints', 1],
  ['Held endpoints', 'Endpoints', 1],
  ['Runs', 'Runs', 1],
]

for (const [name, heading, least] of tiles) {
  Deno.test(`the number "${name}" leads to a list of as many`, async () => {
    const { page, errors, close } = await console_.open('/')
    const isInFlight = name === 'In flight' || name === 'Runs'
    let seen: [number: number, rows: number] = [0, 0]
    // Retries go on beside it, so the number may change between the two readings.
    const isEqual = await waitUntil(async () => {
      // Its request is in flight meanwhile, and so a run is alive.
      if (isInFlight) await console_.outhook.sql`select outbox.publish('hang.made', '{}')`
      await page.goto(console_.running.url)
      await page.getByText('Endpoints with work').waitFor()
      const number = await numberOf(page, name)
      if (!/^\d+$/.test(number)) return false
      await page.locator('.tile').getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      seen = [Number(number), await rowsOf(page)]
      return seen[0] === seen[1] && seen[0] >= least
    }, { timeoutMs: patienceMs })
    expect([isEqual, seen[0]]).toEqual([true, seen[1]])
    expect(errors).toEqual([])
    await close()
  })
}

Deno.test('the success rate leads to the attempts that failed, with each error', async () => {
  const { page, close } = await console_.open('/')
  const tile = page.locator('.tile', { hasText: 'Success rate' })
  const failed = await tile.getByText(/^\d+ failed attempts$/).textContent()
  await page.getByRole('link', { name: 'Success rate' }).click()
  await page.getByRole('cell', { name: /^HTTP 404/ }).first().waitFor()
  await page.getByRole('cell', { name: /^HTTP 503/ }).first().waitFor()
  expect(await page.getByRole('cell', { name: /^HTTP 200/ }).count()).toBe(0)
  expect(`${await rowsOf(page)} failed attempts`).toBe(failed)
  await page.getByLabel('Outcome').selectOption('Delivered')
  await page.getByRole('cell', { name: /^HTTP 200/ }).first().waitFor()
  expect(await page.getByRole('cell', { name: /^HTTP 503/ }).count()).toBe(0)
  await close()
})

Deno.test('a list is copied as curl with its filters', async () => {
  const { page, close } = await console_.open('/events?view=deliveries&status=held')
  await page.getByText(/^\d+ rows, all$/).waitFor()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy as curl' }).click()
  const copied = await page.evaluate('navigator.clipboard.readText()')
  expect(copied).toMatch(/^curl .*\/v1\/deliveries\?status=held' -H /)
  await close()
})

Deno.test('what is copied as SQL is one statement, whatever the address has as organisation', async () => {
  const org = "x'); drop schema outbox cascade; --"
  const { page, close } = await console_.open(`/?org=${encodeURIComponent(org)}`)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy as SQL' }).click()
  const [row] = await console_.outhook.sql`
    select format('select outbox.get_org_overview(%L, 60);', ${org}::text) as text`
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(row?.text)
  await close()
})

Deno.test('the last day and week have numbers of their own', async () => {
  const { page, close } = await console_.open('/')
  for (const [button, minutes] of [['Last day', '1440'], ['Last week', '10080']] as const) {
    const read = page.waitForResponse((response) =>
      response.url().includes(`/overview?minutes=${minutes}`)
    )
    await page.getByRole('button', { name: button }).click()
    expect((await read).status()).toBe(200)
  }
  await page.getByRole('link', { name: 'Events', exact: true }).last().click()
  await page.waitForURL(/\/events\?span=week$/)
  await close()
})

Deno.test('the overview says what is wrong and what to do, each with its list', async () => {
  const { page, close } = await console_.open('/')
  const findings = page.getByRole('region', { name: 'What needs attention' })
  await findings.getByText(/12 dead letters wait/).waitFor()
  await findings.getByText(/^1 endpoint failed several times in a row\. Its breaker is open/)
    .waitFor()
  // Another test may have paused another one.
  await findings.getByText(/^\d+ endpoints? (is|are) paused\.$/).waitFor()
  const failing = findings.locator('.finding', { hasText: 'The last attempt failed at' })
  await failing.getByRole('link', { name: 'Show them' }).click()
  await page.getByRole('cell', { name: /in a row/ }).first().waitFor()
  expect(page.url()).toContain('show=failing')
  await page.getByText('/status/503').first().waitFor()
  expect(await page.getByText('The warehouse').count()).toBe(0)
  expect(sample.failing).not.toBe('')
  await close()
})

Deno.test('the timeline has each step with its request, its response and an explanation', async () => {
  const { page, errors, close } = await console_.open(`/events/${sample.event}`)
  const steps = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem')
  await steps.filter({ hasText: 'Became a dead letter' }).waitFor()
  const texts = await steps.locator('strong').allTextContents()
  expect(texts).toEqual([
    'Published',
    'Routed',
    'Attempt 1 failed',
    'Became a dead letter',
  ])
  const attempt = steps.filter({ hasText: 'Attempt 1 failed' })
  await attempt.getByText('HTTP 404').waitFor()
  await attempt.getByText(/sent about .* took/).waitFor()
  await attempt.getByText('The endpoint responded with a failure').waitFor()
  await attempt.getByText('Request', { exact: true }).click()
  const request = await attempt.locator('pre[aria-label="Request"]').textContent() ?? ''
  expect(request).toMatch(/^POST http:.*\/repaired\/crm\n/)
  expect(request).toContain(`\nwebhook-id: ${sample.event}\n`)
  expect(request).toContain('\nwebhook-signature: (not shown)\n')
  expect(request).toContain('"name": "Ada"')
  await attempt.getByText('Response', { exact: true }).click()
  await attempt.getByText('no route for this webhook').waitFor()
  expect(errors).toEqual([])
  await close()
})

Deno.test('the timeline counts down to the next attempt, and a replay is a step of it', async () => {
  const { outhook } = console_
  const { page, close } = await console_.open(`/events/${slow.event}`)
  const next = page.getByText(/^Next attempt in \d+ min/)
  const before = await next.textContent()
  const hasMoved = async (): Promise<boolean> => await next.textContent() !== before
  expect(await waitUntil(hasMoved, { timeoutMs: patienceMs })).toBe(true)
  await page.getByText(/The next attempt was set for/).waitFor()
  await page.getByRole('button', { name: 'Cancel delivery' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel delivery' }).click()
  await page.getByText('Cancelled', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Replayed', { exact: true }).waitFor()
  await page.getByText('Attempt 2 failed').waitFor()
  // A change of the endpoint makes it uncertain how it was sent.
  await outhook.sql`select outbox.pause_endpoint(${slow.endpoint}, 'x')`
  await page.reload()
  await page.getByText('Request', { exact: true }).first().click()
  await page.getByText(/version \d+ of the endpoint\. The endpoint was changed since/).first()
    .waitFor()
  await close()
})

Deno.test('a problem of the queue is shown with its remedy', async () => {
  const { outhook } = console_
  await outhook.sql`select outbox.set_setting('worker.enabled', 'false')`
  try {
    const { page, close } = await console_.open('/')
    await page.getByText('Delivery is switched off.').waitFor()
    await page.getByText(/outbox\.set_setting\('worker\.enabled', 'true'\)/).waitFor()
    await close()
  } finally {
    await outhook.sql`select outbox.set_setting('worker.enabled', 'true')`
  }
})
