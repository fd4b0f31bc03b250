/** A list of the portal with older pages, in a real browser against a real stack. */

import { expect } from '@std/expect'
import { startPortal } from './_support/portal.ts'

Deno.test('a list with older pages shows what is new, and the newest again after a gap', async () => {
  const portal_ = await startPortal()
  try {
    const { outhook } = portal_
    const org = 'long'
    const { id } = await outhook.createEndpoint('/ok', {
      ...{ p_event_types: ['*'], p_org_id: org },
    })
    // Paused, so that nothing but the list changes.
    await outhook.sql`select outbox.pause_endpoint(${id}::text::uuid)`
    const publish = async (type: string, n: number): Promise<void> => {
      await outhook.sql`
        select outbox.publish(${type}, '{}', p_org_id => ${org}) from generate_series(1, ${n}::int)`
    }
    await publish('old.made', 120)
    const query = `page=${encodeURIComponent(`endpoints/${id}`)}`
    const { portal, errors, close } = await portal_.open(org, { query })
    await portal.getByText('50 shown, newest first').waitFor()
    await portal.getByRole('button', { name: 'Load older' }).click()
    await portal.getByText('100 shown, newest first').waitFor()
    await publish('new.made', 3)
    await portal.getByText('103 shown, newest first').waitFor()
    await publish('newer.made', 60)
    await portal.getByText('103 shown, and newer ones that are not shown').waitFor()
    expect(await portal.getByRole('button', { name: 'newer.made' }).count()).toBe(0)
    await portal.getByRole('button', { name: 'Show the newest' }).click()
    await portal.getByText('50 shown, newest first').waitFor()
    expect(await portal.getByRole('row').filter({ hasText: 'newer.made' }).count()).toBe(50)
    expect(await portal.getByRole('button', { name: 'Show the newest' }).count()).toBe(0)
    expect(errors).toEqual([])
    await close()
  } finally {
    await portal_.stop()
  }
})
