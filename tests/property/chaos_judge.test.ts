/** How `task soak chaos` plays its faults and judges what it sees: no finding and no error gets lost. */

import { expect } from '@std/expect'
import { firstError, playSteps } from '../soak/chaos/acts.ts'
import { isServerAway } from '../soak/chaos/away.ts'
import type { Evidence } from '../soak/chaos/evidence.ts'
import { allOver, pause, type Step } from '../soak/chaos/fault.ts'
import { judge } from '../soak/chaos/judge.ts'
import { publication, soundEvidence } from './_support/evidence.ts'

const soon = { timeoutMs: 1_000, everyMs: 1 }

/** The sample with counters that lack some of the attempts, or with an event that is not routed, or both. */
function seen(
  { delivered = 5, unrouted = 0 }: { delivered?: number; unrouted?: number },
): Evidence {
  const { views, ...rest } = soundEvidence()
  return { ...rest, views: { ...views, unrouted, counted: { delivered } } }
}

/** Shows one after the other, and the last one for ever. */
function shows(...all: Evidence[]): { look: () => Promise<Evidence>; count: () => number } {
  let n = 0
  return {
    look: () => Promise.resolve(all[Math.min(n++, all.length - 1)] ?? soundEvidence()),
    count: () => n,
  }
}

Deno.test('judge() looks once where all promises hold', async () => {
  const { look, count } = shows(seen({}))
  expect((await judge(look, soon)).violations).toEqual([])
  expect(count()).toBe(1)
})

Deno.test('judge() waits for counters, and finds nothing when they are added up', async () => {
  const { look, count } = shows(seen({ delivered: 3 }), seen({ delivered: 4 }), seen({}))
  expect((await judge(look, soon)).violations).toEqual([])
  expect(count()).toBe(3)
})

Deno.test('judge() finds counters that stay wrong, as the last look shows them', async () => {
  const { look } = shows(seen({ delivered: 3 }), seen({ delivered: 4 }))
  const { evidence, violations } = await judge(look, { timeoutMs: 20, everyMs: 1 })
  expect(violations).toEqual([
    { promise: 'counters', what: 'the counter of delivered shows 4, and a count gives 5' },
  ])
  expect(evidence.views.counted.delivered).toBe(4)
})

Deno.test('judge() keeps what was found beside late counters, though a later look is clean', async () => {
  const { look } = shows(seen({ delivered: 3, unrouted: 1 }), seen({ delivered: 3 }), seen({}))
  const { evidence, violations } = await judge(look, soon)
  expect(violations).toEqual([
    { promise: 'stuck', what: 'unrouted is 1' },
  ])
  expect(evidence.views.unrouted).toBe(1)
})

Deno.test('judge() keeps a wrong view that a later look corrects', async () => {
  const wrong = seen({ delivered: 4 })
  wrong.views = { ...wrong.views, dead_letters: 2 }
  const { violations } = await judge(shows(wrong, seen({})).look, soon)
  expect(violations.map(({ promise }) => promise)).toEqual(['views'])
})

Deno.test('judge() tells once what each look shows, and also what only a later one shows', async () => {
  const [waits, lost] = [seen({ delivered: 3, unrouted: 1 }), seen({ delivered: 3, unrouted: 1 })]
  lost.ledger.publications.push({ ...publication(5), id: null })
  const { violations } = await judge(shows(waits, waits, lost, seen({})).look, soon)
  expect(violations.map(({ promise }) => promise)).toEqual(['stuck', 'loss', 'loss'])
})

/** Steps that begin at once. */
const steps = ['a', 'b', 'c', 'd'].map((kind): Step => ({ kind, at: 0, ms: 0, seed: 1 }))

Deno.test('playSteps() throws the first error, after all who act have ended', async () => {
  const [ended, ends] = [[] as string[], new Map<string, () => void>()]
  const allBegun = Promise.withResolvers<void>()
  const end = (kind: string): void => ends.get(kind)?.()
  let isOver = false
  const played = playSteps(steps, async ({ kind }) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.set(kind, resolve)
    if (ends.size === steps.length) allBegun.resolve()
    await promise
    ended.push(kind)
    if (kind === 'b' || kind === 'c') throw new Error(`${kind} failed`)
  }).finally(() => isOver = true)
  const thrown = expect(played).rejects.toThrow('c failed')
  await allBegun.promise
  for (const kind of ['c', 'b', 'a']) end(kind)
  await pause(0)
  expect([ended, isOver]).toEqual([['c', 'b', 'a'], false])
  end('d')
  await thrown
  expect(ended).toEqual(['c', 'b', 'a', 'd'])
})

Deno.test('playSteps() begins nothing after a failure', async () => {
  const begun: string[] = []
  const late = steps.map((step) => ({ ...step, at: step.kind === 'd' ? 200 : 0 }))
  const played = playSteps(late, ({ kind }) => {
    begun.push(kind)
    return kind === 'a' ? Promise.reject(new Error('a failed')) : pause(1)
  })
  await expect(played).rejects.toThrow('a failed')
  expect(begun).not.toContain('d')
})

Deno.test('allOver() waits for all of them', async () => {
  let isOver = false
  const slow = pause(30).then(() => isOver = true)
  await expect(allOver([Promise.reject(new Error('one')), slow])).rejects.toThrow('one')
  expect(isOver).toBe(true)
})

Deno.test('firstError() is that of the work, not that of its end', async () => {
  const work = async (): Promise<void> => {
    await using left = new AsyncDisposableStack()
    left.defer(() => Promise.reject(new Error('the end')))
    left.defer(() => Promise.reject(new Error('also the end')))
    throw new Error('the work')
  }
  const error = await work().catch(firstError)
  expect(error).toEqual(new Error('the work'))
})

Deno.test('isServerAway() knows codes, and neither other codes nor texts', () => {
  const coded = (code: unknown): Error => Object.assign(new Error('connection closed'), { code })
  for (
    const code of ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'CONNECTION_CLOSED', '57P01', '57P03']
  ) {
    expect([code, isServerAway(coded(code))]).toEqual([code, true])
  }
  for (const code of ['ENOENT', 'EACCES', 'EXDEV', 'CONNECTION_X', '57P04', '08P01', '42P01', 8]) {
    expect([code, isServerAway(coded(code))]).toEqual([code, false])
  }
  expect(isServerAway(new Error('ECONNREFUSED'))).toBe(false)
  expect(isServerAway({ code: 'ECONNREFUSED' })).toBe(false)
})
