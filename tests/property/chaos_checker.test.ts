/** The checker of `task soak chaos` finds each kind of broken promise, and nothing where all hold. */

import { expect } from '@std/expect'
import { check, tellViolations } from '../soak/chaos/checker.ts'
import type { Evidence, Receipt, Violation } from '../soak/chaos/evidence.ts'
import { isWanted } from '../soak/chaos/ledger.ts'
import { planRounds } from '../soak/chaos/plan.ts'
import { shrink } from '../soak/chaos/shrink.ts'
import {
  all,
  arrival,
  ids,
  letter,
  publication,
  receipt,
  soundEvidence,
} from './_support/evidence.ts'

/** A second request to `ordered` for the second event. */
const again = {
  ...arrival(publication(1), 'ordered', 200),
  attempt: 2,
  at: 1_500,
  answeredAt: 1_510,
}

const failedFirst = (error_class: string) => (one: Receipt): Receipt =>
  one.event_id === 'event-1' && one.endpoint_id === ids.ordered
    ? { ...one, outcome: 'failed', error_class }
    : one
const secondReceipt: Receipt = { ...receipt(publication(1), 'ordered', 'delivered'), attempt: 2 }

/** The sample with one change. */
function changed(change: (evidence: Evidence) => Partial<Evidence> | void): Evidence {
  const evidence = soundEvidence()
  return { ...evidence, ...change(evidence) }
}

Deno.test('check() finds nothing where all promises hold', () => {
  expect(check(soundEvidence())).toEqual([])
})

const explained: [string, Evidence][] = [
  [
    'a second request after a lost lease',
    changed(({ ledger, receipts }) => {
      ledger.arrivals.push(again)
      return { receipts: [...receipts.map(failedFirst('lease_expired')), secondReceipt] }
    }),
  ],
  [
    'a second request of an attempt that was resent',
    changed(({ ledger, receipts }) => {
      ledger.arrivals.push({ ...again, attempt: 1, at: 1_222, answeredAt: 1_225 })
      return { receipts: receipts.map((one) => ({ ...one, resent: true })) }
    }),
  ],
  [
    'a second request after a replay',
    changed(({ ledger, receipts, views }) => {
      ledger.arrivals.push(again)
      ledger.replays.push({ endpoint: 'ordered', id: 'event-1', at: 1_400 })
      const counted = { ...views.counted, delivered: 6 }
      return { receipts: [...receipts, secondReceipt], views: { ...views, counted } }
    }),
  ],
  [
    'an event whose COMMIT got no response',
    changed(({ ledger }) => {
      ledger.publications.push({ ...publication(9), id: null, fate: 'maybe' })
    }),
  ],
]
for (const [what, evidence] of explained) {
  Deno.test(`check() accepts ${what}`, () => {
    expect(check(evidence)).toEqual([])
  })
}

/** The sample with a database whose clock was moved all the time. */
function movedBy(seconds: number): Evidence {
  return changed(({ ledger, receipts }) => {
    ledger.clockMoves.push({ from: 0, until: 5_000, seconds })
    return { receipts: receipts.map((one) => ({ ...one, at: one.at + seconds * 1_000 })) }
  })
}

Deno.test('check() knows when the clock of the database was moved', () => {
  for (const seconds of [-20, 20]) expect(check(movedBy(seconds))).toEqual([])
  const untold = movedBy(-20)
  untold.ledger.clockMoves.pop()
  const found = check(untold).map(({ what }) => what)
  expect(found).toContain('0:1 at ordered: a request came 19980 ms after it was delivered')
})

Deno.test('check() finds a request after a delivery while the clock of the database was behind', () => {
  const evidence = movedBy(-20)
  evidence.ledger.arrivals.push({ ...again, at: 4_000, answeredAt: 4_010 })
  expect(check(evidence).map(({ what }) => what))
    .toContain('0:1 at ordered: a request came 2770 ms after it was delivered')
})

const broken: [Violation['promise'], string, Evidence][] = [
  [
    'loss',
    'a committed event that never arrives',
    changed(({ ledger }) => {
      ledger.publications.push(publication(5))
    }),
  ],
  [
    'loss',
    'an event that one of two endpoints did not get',
    changed(({ ledger }) => {
      ledger.arrivals.splice(0, 1)
    }),
  ],
  [
    'loss',
    'an event that was only answered with 500',
    changed(({ ledger }) => {
      ledger.arrivals.forEach((one) => one.ref === '0:0' && (one.status = 500))
    }),
  ],
  [
    'loss',
    'a delivery that counts as delivered without a 2xx',
    changed(({ deliveries }) => ({
      deliveries: deliveries.map((row) => ({ ...row, status: 'delivered' })),
    })),
  ],
  [
    'invention',
    'an event that was rolled back',
    changed(({ ledger }) => {
      ledger.arrivals.push(arrival(publication(4), 'picky', 200))
    }),
  ],
  [
    'invention',
    'an event that nobody published',
    changed(({ ledger }) => {
      ledger.arrivals.push(arrival(publication(6), 'picky', 200))
    }),
  ],
  [
    'invention',
    'an event under two ids',
    changed(({ ledger }) => {
      ledger.arrivals.forEach((one) => one.endpoint === 'picky' && (one.id = `other-${one.id}`))
    }),
  ],
  [
    'invention',
    'an event of a type that the endpoint does not want',
    changed(({ ledger }) => {
      ledger.targets.forEach((one) =>
        one.wishes = [{ types: [], began: 0, ended: 1, certain: true }]
      )
    }),
  ],
  [
    'order',
    'an event that comes before the earlier one is answered',
    changed(({ ledger }) => {
      ledger.arrivals.forEach((one) => one.ref === '0:0' && (one.answeredAt = 1_300))
    }),
  ],
  [
    'duplicate',
    'a second attempt after a success',
    changed(({ ledger, receipts }) => {
      ledger.arrivals.push(again)
      return { receipts: [...receipts, secondReceipt] }
    }),
  ],
  [
    'duplicate',
    'a second request of an attempt that was not resent',
    changed(({ ledger }) => {
      ledger.arrivals.push({ ...again, attempt: 1 })
    }),
  ],
  [
    'duplicate',
    'a request whose attempt has no receipt',
    changed(({ ledger }) => {
      ledger.arrivals.push(again)
    }),
  ],
  [
    'lease',
    'an attempt that comes during another one',
    changed(({ ledger, receipts }) => {
      ledger.arrivals.push({ ...again, at: 1_215 })
      return { receipts: [...receipts.map(failedFirst('http')), secondReceipt] }
    }),
  ],
  [
    'lease',
    'two receipts of one attempt',
    changed(({ receipts }) => ({
      receipts: [...receipts, ...receipts.slice(0, 1)],
    })),
  ],
  [
    'letter',
    'a dead letter without a reason',
    changed(() => ({
      letters: [{ ...letter(), why: '' }],
    })),
  ],
  [
    'letter',
    'a dead letter that no response bears out',
    changed(({ ledger }) => {
      ledger.arrivals.forEach((one) => one.status = 200)
    }),
  ],
  [
    'letter',
    'a dead letter for lost leases after fewer of them',
    changed(() => ({
      letters: [{ ...letter(), why: 'leases_lost' }],
    })),
  ],
  [
    'stuck',
    'a delivery that is still open',
    changed(({ deliveries }) => ({
      deliveries: deliveries.map((row) => ({ ...row, open: true })),
    })),
  ],
  [
    'stuck',
    'an event that is not routed',
    changed(({ views }) => ({
      views: { ...views, unrouted: 1 },
    })),
  ],
  [
    'views',
    'a request in flight that nobody makes',
    changed(({ views }) => ({
      views: { ...views, endpoints: views.endpoints.map((one) => ({ ...one, in_flight: 1 })) },
    })),
  ],
  [
    'views',
    'a wrong number of dead letters',
    changed(({ views }) => ({
      views: { ...views, dead_letters: 2 },
    })),
  ],
  [
    'counters',
    'a counter that lost an attempt',
    changed(({ views }) => ({
      views: { ...views, counted: { delivered: 4 } },
    })),
  ],
  [
    'views',
    'a gate that counts wrongly',
    changed(({ views }) => ({
      views: { ...views, miscounted: ['gate 1 depth 2, counted 1'] },
    })),
  ],
  [
    'views',
    'a delivery that has two rows',
    changed(({ deliveries }) => ({
      deliveries: [...deliveries, ...deliveries.slice(0, 1)],
    })),
  ],
  ['process', 'a worker that ends by itself', changed(() => ({ died: ['code 1'] }))],
]
for (const [promise, what, evidence] of broken) {
  Deno.test(`check() finds ${what}`, () => {
    const promises = check(evidence).map((one) => one.promise)
    expect(promises).toContain(promise)
    expect(tellViolations(check(evidence))).toContain(`${promise}: `)
  })
}

Deno.test('isWanted() knows only what no change overlaps', () => {
  const [target] = soundEvidence().ledger.targets
  if (target === undefined) throw new Error('no endpoint')
  const none = { types: [], began: 1_000, ended: 1_050, certain: true }
  const at = (n: number, wish: typeof none): string =>
    isWanted({ ...target, wishes: [...target.wishes, wish] }, publication(n))
  expect(at(0, none)).toBe('yes')
  expect(at(1, none)).toBe('no')
  expect(at(1, { ...none, ended: 1_105 })).toBe('maybe')
  expect(at(1, { ...none, certain: false })).toBe('maybe')
  expect(at(1, { ...none, types: all as never, certain: false })).toBe('yes')
})

Deno.test('isWanted() knows nothing of a change and an event that the clock of the database may have swapped', () => {
  const [target] = soundEvidence().ledger.targets
  if (target === undefined) throw new Error('no endpoint')
  const none = { types: [], began: 30_000, ended: 30_050, certain: true }
  const at = (n: number, seconds: number): string =>
    isWanted({ ...target, wishes: [...target.wishes, none] }, publication(n), [
      { from: 20_000, until: 40_000, seconds },
    ])
  // Published before the change, while the clock may have been moved, and long after both.
  expect([10, 28, 35, 90].map((n) => at(n, -10))).toEqual(['yes', 'maybe', 'maybe', 'no'])
  expect([10, 28, 45, 90].map((n) => at(n, 10))).toEqual(['yes', 'maybe', 'no', 'no'])
  expect([45, 55].map((n) => at(n, 25))).toEqual(['maybe', 'no'])
  // The endpoint itself was created a moment before.
  const [created] = target.wishes
  if (created === undefined) throw new Error('no wish')
  const young = { ...target, wishes: [{ ...created, began: 25_000, ended: 25_010 }] }
  expect(isWanted(young, publication(27), [{ from: 26_000, until: 40_000, seconds: -10 }]))
    .toBe('maybe')
  expect(isWanted(young, publication(27))).toBe('yes')
})

Deno.test('planRounds() repeats itself with the same seed, and has each kind once before any comes again', () => {
  const kinds = Array.from({ length: 9 }, (_, n) => `kind ${n}`)
  const plan = (seed: number): string[] => {
    const rounds = planRounds({ seed, roundMs: 30_000, kinds })
    return Array.from({ length: 3 }, () => rounds.next().value).flat().map((
      { kind, at, ms, seed },
    ) => `${kind} ${at} ${ms} ${seed}`)
  }
  expect(plan(1)).toEqual(plan(1))
  expect(plan(1)).not.toEqual(plan(2))
  const first = plan(1).slice(0, 9).map((line) => line.split(' ').slice(0, 2).join(' '))
  expect(first.toSorted()).toEqual(kinds)
})

Deno.test('shrink() leaves what fails together, and stops when the time is over', async () => {
  const items = Array.from({ length: 40 }, (_, n) => n)
  const fails = (some: readonly number[]): Promise<boolean> =>
    Promise.resolve(some.includes(7) && some.includes(31))
  expect(await shrink(items, { fails, isOver: () => false })).toEqual([7, 31])
  let tries = 3
  const some = await shrink(items, { fails, isOver: () => tries-- === 0 })
  expect(some.length).toBeGreaterThan(2)
  expect(await fails(some)).toBe(true)
})
