/** The threads of a process look up names, and a lookup of a dead name cannot be cancelled: it holds its thread. */

import { expect } from '@std/expect'
import {
  LookupWaitError,
  type ResolvedAddress,
  shareLookups,
} from '../../../../functions/_shared/connect/share_lookups.ts'
import { createFakeClock, type FakeClock } from '../../deliver/fake_clock.ts'

const threads = 32
/** How long a lookup of a dead name takes. */
const deadMs = 60_000
const found = [{ address: '1.1.1.1', family: 4 }]

type Lookups = {
  clock: FakeClock
  /** The names that were looked up, in order. */
  asked: string[]
  /** The lookups in progress. */
  readonly running: number
  ask(hostname: string, org?: string, waitMs?: number): Promise<ResolvedAddress[]>
}

/** Names with `dead` fail after a minute, those with `missing` at once, and all others are found in 50 ms. */
function start(): Lookups {
  const clock = createFakeClock()
  const asked: string[] = []
  let running = 0
  const lookup = shareLookups((hostname) => {
    asked.push(hostname)
    running++
    return new Promise((done, fail) => {
      clock.after(hostname.includes('dead') ? deadMs : 50, () => {
        running--
        if (/dead|missing/.test(hostname)) fail(new Error(`no ${hostname}`))
        else done(found)
      })
    })
  }, { threads, clock })
  return {
    clock,
    asked,
    get running() {
      return running
    },
    ask: (hostname, org, waitMs) => lookup(hostname, { org, waitMs }),
  }
}

/** What came of lookups, in words. */
function note(lookups: readonly Promise<unknown>[]): string[] {
  const ends: string[] = []
  for (const one of lookups) {
    one.then(() => ends.push('found'), (error: Error) => ends.push(error.message))
  }
  return ends
}

function names(count: number, kind: string): string[] {
  return Array.from({ length: count }, (_, n) => `${n}.${kind}.test`)
}

Deno.test('shareLookups() makes one lookup of a name at a time, and another one after its result', async () => {
  const { clock, asked, ask } = start()
  const ends = note([
    ask('a.test', 'one'),
    ask('a.test', 'two'),
    ask('a.missing.test'),
    ask('a.test'),
  ])
  expect(asked).toEqual(['a.test', 'a.missing.test'])
  await clock.advance(50)
  expect(ends.toSorted()).toEqual(['found', 'found', 'found', 'no a.missing.test'])
  note([ask('a.test'), ask('a.missing.test')])
  expect(asked).toEqual(['a.test', 'a.missing.test', 'a.test', 'a.missing.test'])
  await clock.advance(50)
  expect(clock.pending).toBe(0)
})

Deno.test('shareLookups() looks up the names of others at once while an organisation has many dead ones', async () => {
  const { clock, asked, ask } = start()
  note(names(500, 'dead').map((name) => ask(name, 'noisy', deadMs)))
  for (let second = 0; second < 120; second++) {
    const own = `${second}.test`
    note([ask(own, 'quiet')])
    expect(asked).toContain(own)
    await clock.advance(1_000)
  }
})

Deno.test('shareLookups() leaves threads free, whatever the number of organisations with dead names', async () => {
  const lookups = start()
  const { clock, ask } = lookups
  let most = 0
  for (let minute = 0; minute < 5; minute++) {
    for (const org of names(50, 'org')) note(names(10, `dead.${org}`).map((name) => ask(name, org)))
    for (let n = 0; n < 60; n++) {
      most = Math.max(most, lookups.running)
      await clock.advance(1_000)
    }
  }
  expect(most).toBeGreaterThan(threads / 2)
  expect(most).toBeLessThan(threads)
})

Deno.test('shareLookups() gives free threads to the organisations in turns', async () => {
  const { clock, asked, ask } = start()
  for (const org of ['a', 'b', 'c', 'd', 'e', 'f']) {
    note(names(4, `dead.${org}`).map((name) => ask(name, org)))
  }
  // All threads are in use.
  note(names(40, 'many').map((name) => ask(name, 'many', 2 * deadMs)))
  note([ask('few.test', 'few', 2 * deadMs)])
  const before = asked.length
  await clock.advance(deadMs)
  expect(asked.indexOf('few.test')).toBe(before + 1)
})

Deno.test('shareLookups() shares a lookup with those who have no free thread, and with other organisations', async () => {
  const { clock, asked, ask } = start()
  for (const org of names(12, 'org')) note(names(4, `dead.${org}`).map((name) => ask(name, org)))
  const joined = note([ask('0.dead.0.org.test.test', 'x', 500)])
  const both = note([ask('both.test', 'x', 2 * deadMs), ask('both.test', 'y', 2 * deadMs)])
  await clock.advance(500)
  expect(joined).toEqual([])
  await clock.advance(deadMs)
  expect(joined).toEqual(['no 0.dead.0.org.test.test'])
  expect(both).toEqual(['found', 'found'])
  expect(asked.filter((name) => name === 'both.test')).toHaveLength(1)
})

Deno.test('shareLookups() finds the names of a single organisation beside a dozen dead ones', async () => {
  const { clock, asked, ask } = start()
  note(names(12, 'dead').map((name) => ask(name, 'default')))
  const ends = note(names(100, 'good').map((name) => ask(name, 'default')))
  await clock.advance(5_000)
  expect(ends).toEqual(Array(100).fill('found'))

  // From their first failure on, dead names do not delay others at all.
  await clock.advance(2 * deadMs)
  note(names(12, 'dead').map((name) => ask(name, 'default')))
  const later = note([ask('later.test', 'default')])
  expect(asked.at(-1)).toBe('later.test')
  await clock.advance(50)
  expect(later).toEqual(['found'])
})

Deno.test('shareLookups() does not repeat a lookup that hung for a while, and then beside all others', async () => {
  const { clock, asked, ask } = start()
  note([ask('dead.test', 'default')])
  await clock.advance(deadMs)
  const soon = note([ask('dead.test', 'default'), ask('dead.test', 'other')])
  await clock.advance(0)
  expect(soon).toEqual(['no dead.test', 'no dead.test'])
  expect(asked).toEqual(['dead.test'])
  await clock.advance(30_000)
  note([ask('dead.test', 'default')])
  expect(asked).toEqual(['dead.test', 'dead.test'])
})

Deno.test('shareLookups() forgets who has waited too long, and says that it is not the name’s fault', async () => {
  const { clock, asked, ask } = start()
  note(names(100, 'dead').map((name) => ask(name, 'default', deadMs / 2)))
  await clock.advance(10_000)
  const [left, one] = [ask('left.test', 'default', 500), ask('two.test', 'default', 500)]
  const ends = note([left, one])
  const two = note([ask('two.test', 'default', 2 * deadMs)])
  await clock.advance(500)
  expect(ends).toEqual([new LookupWaitError().message, new LookupWaitError().message])
  await expect(left).rejects.toThrow(LookupWaitError)
  await clock.advance(deadMs)
  expect(two).toEqual(['found'])
  expect(asked).not.toContain('left.test')
  // Nor does anything remain of those who gave up.
  expect(asked.filter((name) => name.includes('dead')).length).toBeLessThan(threads)
})

Deno.test('shareLookups() says of a name known as dead that it failed, if it waits too long', async () => {
  const { clock, ask } = start()
  const all = names(20, 'dead')
  note(all.map((name) => ask(name, 'default', 2 * deadMs)))
  await clock.advance(3 * deadMs)
  const ends = note(all.map((name) => ask(name, 'default', 500)))
  await clock.advance(500)
  expect(ends.length).toBeGreaterThan(0)
  for (const end of ends) expect(end).toMatch(/^no [0-9]+\.dead\.test$/)
})

Deno.test('shareLookups() finds a thousand names at a cold start nearly as fast as all threads would', async () => {
  const { clock, ask } = start()
  const ends = note(names(1_000, 'good').map((name) => ask(name, 'default')))
  // All threads would take 1,600 ms.
  await clock.advance(2_700)
  expect(ends).toEqual(Array(1_000).fill('found'))
})
