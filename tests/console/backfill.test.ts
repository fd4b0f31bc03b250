/** Earlier events for an endpoint that lacks them or has lost them, in a real browser against a real stack. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/patience.ts'
import { findingsOf } from './_support/axe.ts'
import { startConsole } from './_support/console.ts'

/** Enough that the number must be typed. */
const events = 150

Deno.test('sends an endpoint what was published before it, with a preview, progress and an end', async () => {
  const console_ = await startConsole()
  try {
    const { outhook } = console_
    const org = 'fill'
    await outhook.sql`
      select outbox.publish('fill.made', jsonb_build_object('total', n), p_org_id => ${org})
      from generate_series(1, ${events}::int) n`
    await outhook.sql`select outbox.publish('other.made', '{}', p_org_id => ${org})`
    const isRouted = async (): Promise<boolean> => {
      const [row] = await outhook.sql`
        select not exists (
          select from outbox.unrouted u join outbox.event e on e.id = u.event_id
          where e.org_id = ${org}) as done`
      return row?.done
    }
    expect(await waitUntil(isRouted, { timeoutMs: patienceMs })).toBe(true)
    const { id } = await outhook.createEndpoint('/ok/late', {
      ...{ p_event_types: ['fill.*'], p_org_id: org },
    })
    const { page, errors, close } = await console_.open(`/endpoints/${id}?org=${org}`)
    await page.getByRole('button', { name: 'Send earlier events' }).click()
    const dialog = page.getByRole('dialog')
    const show = dialog.getByRole('button', { name: 'Show how many' })
    await dialog.getByLabel('Event types').fill('fill.')
    await show.click()
    await dialog.getByText('Expected types such as order.paid, order.* or *.').waitFor()
    await dialog.getByLabel('Event types').fill('other.*')
    await show.click()
    await dialog.getByText('There is no such event that this endpoint has not had.').waitFor()
    await dialog.getByLabel('Event types').fill('')
    await dialog.getByLabel('Filter').fill('$.total >')
    await show.click()
    await dialog.getByRole('alert').filter({ hasText: 'filter at character 10' }).waitFor()
    await dialog.getByLabel('Filter').fill('$.total > 30')
    expect(await findingsOf(page)).toEqual([])
    await show.click()
    await dialog.getByRole('heading', { name: 'Send 120 earlier events?' }).waitFor()
    expect(await findingsOf(page)).toEqual([])
    const start = dialog.getByRole('button', { name: 'Start the job' })
    expect(await start.isDisabled()).toBe(true)
    await dialog.getByLabel(/Events a second/).fill('5')
    await dialog.getByLabel('Type 120 to confirm').fill('120')
    await start.click()
    await page.getByRole('heading', { level: 1, name: /^Job \d+$/ }).waitFor()
    await page.getByText('backfill of events').waitFor()
    await page.getByText(/^Handled [\d,]+ of 120 \(\d+ %\)$/).waitFor()
    await page.getByText(/^It runs: [1-9]\d* were sent\.$/).waitFor({ timeout: patienceMs })
    await page.getByRole('button', { name: 'Cancel the job' }).click()
    await dialog.getByText(/^\d+ events that it has not reached are not sent\./).waitFor()
    const job = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await dialog.getByLabel(`Type ${job} to confirm`).fill(job)
    await dialog.getByRole('button', { name: 'Cancel the job' }).click()
    await page.getByText(/^It was cancelled: \d+ were sent\. What was sent stays so\.$/).waitFor()
    const [row] = await outhook.sql`
      select j.status, j.source, j.filter, j.replayed::int as sent from outbox.replay_job j
      where j.id = ${job}::bigint`
    expect(row).toMatchObject({ status: 'cancelled', source: 'events', filter: '$.total > 30' })
    expect(row?.sent).toBeLessThan(120)
    // What was sent is not counted a second time.
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click()
    await page.getByRole('row').nth(1).waitFor()
    expect(new URL(page.url()).searchParams.get('endpoint')).toBe(id)
    expect(errors).toEqual([])
    await close()
  } finally {
    await console_.stop()
  }
})

Deno.test('sends a receiver that lost its data a span again, after it says that events come twice', async () => {
  const console_ = await startConsole()
  try {
    const { outhook } = console_
    const org = 'lost'
    const { id } = await outhook.createEndpoint('/ok/lost', {
      ...{ p_event_types: ['lost.*'], p_org_id: org },
    })
    await outhook.sql`
      select outbox.publish('lost.made', '{}', p_org_id => ${org}) from generate_series(1, 3)`
    const gotOf = async (): Promise<number> => {
      const [row] = await outhook.sql`
        select count(*)::int as n from outbox.attempt a
        where a.endpoint_id = ${id} and a.outcome = 'delivered'`
      return row?.n
    }
    const has = (n: number) => waitUntil(async () => await gotOf() === n, { timeoutMs: patienceMs })
    expect(await has(3)).toBe(true)
    const { page, errors, close } = await console_.open(`/endpoints/${id}?org=${org}`)
    await page.getByRole('button', { name: 'Send earlier events' }).click()
    const dialog = page.getByRole('dialog')
    const show = dialog.getByRole('button', { name: 'Show how many' })
    await show.click()
    await dialog.getByText('There is no such event that this endpoint has not had.').waitFor()
    const again = dialog.getByRole('checkbox', { name: /^Also what was already delivered\./ })
    expect(await again.isChecked()).toBe(false)
    await again.check()
    expect(await findingsOf(page)).toEqual([])
    await show.click()
    await dialog.getByRole('heading', { name: 'Send 3 earlier events?' }).waitFor()
    await dialog.getByText('All were already delivered.').waitFor()
    await dialog.getByText(/gets them a second time, with the same id/).waitFor()
    expect(await findingsOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Start the job' }).click()
    await page.getByText('It is done: 3 were sent.').waitFor({ timeout: patienceMs })
    await page.getByText('Already delivered', { exact: true }).waitFor()
    expect(await has(6)).toBe(true)
    expect(errors).toEqual([])
    await close()
  } finally {
    await console_.stop()
  }
})
