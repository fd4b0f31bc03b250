import { expect } from '@std/expect'
import { type ClaimShare, claimShare } from '../../../functions/deliver/org_share.ts'
import { initialState } from '../../../functions/deliver/state.ts'
import { createHarness, many, stopRun } from './harness.ts'

/** What a run may claim next that holds these deliveries, with room for `room` more. */
function share(
  held: Record<string, number>,
  most: number,
  { room = 10, offered = 0 }: { room?: number; offered?: number } = {},
): ClaimShare {
  const outstanding = Object.values(held).reduce((sum, count) => sum + count, 0)
  const heldBy = new Map(Object.entries(held))
  return claimShare({ ...initialState(0), heldBy, outstanding, offered }, room, most)
}

Deno.test('claimShare() lets one organisation hold three quarters of a run, and leaves a part to others', () => {
  expect(share({ a: 74 }, 100)).toEqual({ limit: 1, full: [] })
  expect(share({ a: 75 }, 100).full).toEqual(['a'])
  expect(share({ a: 74, b: 1 }, 100).full).toEqual(['a'])
  expect(share({ a: 40, b: 40 }, 100)).toEqual({ limit: 5, full: [] })
  expect(share({ a: 43, b: 43, c: 1 }, 100).full).toEqual(['a', 'b'])
  expect(share({ a: 27, b: 27, c: 27, d: 3 }, 100)).toEqual({ limit: 5, full: [] })
})

Deno.test('claimShare() claims so many that none holds more than its share if all are of one organisation', () => {
  expect(share({}, 100, { room: 80 })).toEqual({ limit: 75, full: [] })
  expect(share({ a: 20 }, 100, { room: 80 })).toEqual({ limit: 55, full: [] })
  expect(share({ a: 20 }, 100, { room: 80, offered: 20 })).toEqual({ limit: 40, full: [] })
  expect(share({ a: 20 }, 100, { room: 30 })).toEqual({ limit: 30, full: [] })
})

Deno.test('claimShare() serves an organisation that holds a little beside one that is full', () => {
  expect(share({ a: 1344, b: 1 }, 1792, { room: 400 })).toEqual({ limit: 335, full: ['a'] })
})

Deno.test('claimShare() claims one delivery if only one is free', () => {
  expect(share({ a: 33, b: 33, c: 33 }, 100, { room: 1 }))
    .toEqual({ limit: 1, full: ['a', 'b', 'c'] })
})

Deno.test('run() names the organisation that fills it, until it holds less', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  for (let i = 1; i <= 14; i++) courses[`event-${i}`] = { ms: 10_000 }
  database.add(...many(14))
  const running = harness.start({ slots: 4, maxOutstanding: 16 })
  await clock.advance(1_000)
  expect(database.leased).toBe(14)
  expect(database.calls.at(-1)?.full).toEqual([expect.any(String)])
  await clock.advance(10_000)
  expect(database.leased).toBe(0)
  expect(database.calls.at(-1)?.full).toBeUndefined()
  await stopRun(harness, running)
})
