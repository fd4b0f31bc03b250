import { expect } from '@std/expect'
import type { Outcome } from '../../../functions/_shared/contract/contract.ts'
import { introduce } from '../../../functions/_shared/contract/introduction.ts'
import { createHarness } from './harness.ts'

Deno.test('run() of another project sends nothing, makes one call and reports the reason', async () => {
  for (const stop of ['another_project', 'no_project', 'foreign_kick', 'deciding']) {
    const harness = createHarness()
    harness.database.add({})
    harness.database.stop = stop
    harness.database.problem = 'Why'
    await harness.start()
    expect(harness.summary).toMatchObject({ end: `stop:${stop}`, dispatches: 1 })
    expect(harness.sent).toEqual([])
    expect(harness.begun).toMatchObject([{ code: stop, detail: 'Why' }])
    expect(harness.log).toEqual(['error the database reports a problem'])
  }
})

Deno.test('run() logs a problem that an earlier run has logged only once', async () => {
  const harness = createHarness()
  harness.more.said = { problem: null }
  harness.database.stop = 'another_project'
  harness.database.problem = 'Why'
  await harness.start()
  const again = createHarness()
  again.more.said = harness.more.said
  again.database.stop = 'another_project'
  again.database.problem = 'Why'
  await again.start()
  expect(again.log).toEqual([])
  again.database.problem = 'Another reason'
})

Deno.test('run() names the database of its kick in its first call only', async () => {
  const harness = createHarness()
  harness.more.kick = '0123456789abcdef0123456789abcdef'
  harness.database.add({})
  const end = harness.start()
  await harness.clock.advance(100)
  harness.stop.abort()
  await harness.clock.advance(1_000)
  await end
  const [first, ...others] = harness.database.calls
  expect(first?.kick).toBe(harness.more.kick)
  expect(others.length).toBeGreaterThan(0)
  expect(others.every((call) => !('kick' in call))).toBe(true)
})

Deno.test('run() names the kinds that it can send in each call', async () => {
  const harness = createHarness()
  harness.database.add({})
  const end = harness.start()
  await harness.clock.advance(100)
  harness.stop.abort()
  await harness.clock.advance(1_000)
  await end
  expect(harness.database.calls.length).toBeGreaterThan(1)
  for (const { kinds } of harness.database.calls) expect(kinds).toEqual(['webhook'])
})

Deno.test('run() names no kind whose sender is unavailable', async () => {
  const harness = createHarness()
  let isAvailable = false
  const send = (): Promise<Outcome> => Promise.resolve({ outcome: 'delivered' })
  harness.more.senders = new Map([
    ['webhook', { send }],
    ['kafka', { send, isAvailable: () => isAvailable }],
  ])
  const end = harness.start()
  await harness.clock.advance(100)
  isAvailable = true
  await harness.clock.advance(1_000)
  harness.stop.abort()
  await harness.clock.advance(1_000)
  await end
  const named = harness.database.calls.map(({ kinds }) => kinds?.join(' '))
  expect(named[0]).toBe('webhook')
  expect(named.at(-1)).toBe('webhook kafka')
})

Deno.test('introduce() adds what the run says about itself to the contracts, if it says anything', () => {
  const range = { oldest: 1, newest: 2 }
  expect(introduce(range, null, {})).toEqual(range)
  expect(introduce(range, 'shop', { kick: 'k', refuse: true, kinds: ['webhook'] }))
    .toEqual({ ...range, project: 'shop', kick: 'k', refuse: true, kinds: ['webhook'] })
})
