import { expect } from '@std/expect'
import { edgeOptions, workerOptions } from '../../../functions/deliver/options.ts'
import { contractRefused } from '../../../functions/deliver/refusal.ts'
import { otherContract } from './fake_database.ts'
import { createHarness, many, stopRun } from './harness.ts'

Deno.test('run() ends at the first refusal, sends nothing and makes no further call', async () => {
  for (const options of [edgeOptions, workerOptions]) {
    const harness = createHarness(options)
    const { clock, database } = harness
    database.add(...many(3))
    database.troubles = ['other_contract']
    const running = harness.start()
    await clock.advance(10_000)
    expect(await running).toMatchObject({ end: 'contract', delivered: 0, failed: 0, dispatches: 1 })
    expect(database.calls).toHaveLength(1)
    expect(harness.sent).toEqual([])
    expect(harness.begun).toEqual([contractRefused(otherContract)])
    expect(harness.log).toEqual(['error dispatch failed'])
    expect(harness.errors).toEqual(['Update the functions'])
  }
})

Deno.test('run() that is refused after its start sends what it holds and then ends', async () => {
  const harness = createHarness()
  const { clock, database, sent } = harness
  database.add(...many(2))
  harness.courses['event-1'] = { ms: 3_000 }
  const running = harness.start()
  await clock.advance(1)
  database.refusesAll = true
  await clock.advance(2_000)
  expect(harness.summary).toBe(null)
  await clock.advance(2_000)
  expect(await running).toMatchObject({ end: 'contract', delivered: 2 })
  expect(database.applied.map(({ event }) => event)).toEqual(['event-2', 'event-1'])
  expect(sent.map(({ event }) => event)).toEqual(['event-1', 'event-2'])
  expect(harness.begun).toEqual([
    null,
    contractRefused(otherContract),
    contractRefused(otherContract),
  ])
})

Deno.test('run() logs a problem of the database once, and again when it comes back', async () => {
  const harness = createHarness()
  const { clock, database, log } = harness
  const line = 'error the database reports a problem'
  database.problem = 'the tick does not run'
  const running = harness.start()
  await clock.advance(2_000)
  expect(log).toEqual([line])
  expect(harness.errors).toEqual(['the tick does not run'])
  database.problem = null
  await clock.advance(1_000)
  database.problem = 'the tick does not run'
  await clock.advance(1_000)
  expect(log).toEqual([line, line])
  await stopRun(harness, running)
})
