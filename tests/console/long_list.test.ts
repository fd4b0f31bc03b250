/** A list with older pages: it stays live, and says when the newest rows are not shown. */

import { expect } from '@std/expect'
import { withNewest } from '../../portal/element/app/newest.ts'
import { startConsole } from './_support/console.ts'

Deno.test('a newer first page replaces what it covers, and a gap is no list', () => {
  const rows = (...ids: number[]): { id: number }[] => ids.map((id) => ({ id }))
  const held = rows(6, 5, 4, 3, 2, 1)
  const page = (...ids: number[]): { data: { id: number }[]; nextCursor: string } => ({
    data: rows(...ids),
    nextCursor: 'c',
  })
  expect(withNewest(page(6, 5, 4), held)).toEqual(held)
  expect(withNewest(page(8, 7, 6), held)).toEqual(rows(8, 7, 6, 5, 4, 3, 2, 1))
  // 6 and 4 are not in the list any more.
  expect(withNewest(page(7, 5, 3), held)).toEqual(rows(7, 5, 3, 2, 1))
  expect(withNewest(page(9, 8, 7), held)).toBe(null)
  expect(withNewest({ data: rows(2), nextCursor: null }, held)).toEqual(rows(2))
  // An attempt has no id of its own.
  const attempt = (error: string | null) => ({ deliveryId: 'a.b', attempt: 1, at: 't', error })
  expect(withNewest({ data: [attempt('x')], nextCursor: 'c' }, [attempt(null)]))
    .toEqual([attempt('x')])
})

Deno.test('a list with older pages shows what is new, and the newest again after a gap', async () => {
  const console_ = await startConsole()
  try {
    const { outhook } = console_
    const org = 'long'
    const publish = async (type: string, n: number): Promise<void> => {
      await outhook.sql`
        select outbox.publish(${type}, '{}', p_org_id => ${org}) from generate_series(1, ${n}::int)`
    }
    await publish('old.made', 120)
    const { page, errors, close } = await console_.open(`/events?org=${org}`)
    await page.getByText('50 rows of more, newest first').waitFor()
    await page.getByRole('button', { name: 'Load older' }).click()
    await page.getByText('100 rows of more, newest first').waitFor()
    await publish('new.made', 3)
    await page.getByText('103 rows of more, newest first').waitFor()
    expect(await page.getByRole('link', { name: 'new.made' }).count()).toBe(3)
    await publish('newer.made', 60)
    await page.getByText('103 rows, and newer ones that are not shown').waitFor()
    expect(await page.getByText('newest first').count()).toBe(0)
    await page.getByRole('button', { name: 'Show the newest' }).click()
    await page.getByText('50 rows of more, newest first').waitFor()
    expect(await page.getByRole('link', { name: 'newer.made' }).count()).toBe(50)
    expect(errors).toEqual([])
    await close()
  } finally {
    await console_.stop()
  }
})
