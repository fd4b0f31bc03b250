import { expect } from '@std/expect'
import { createHarness, many, stopRun } from './harness.ts'

const fiveMinutes = 300_000

for (const wrong of [fiveMinutes, -fiveMinutes]) {
  Deno.test(`a delivery is signed with the time of the database if the clock of the worker is ${wrong} ms off`, async () => {
    const harness = createHarness()
    const { clock, database, signedAt } = harness
    const realNow = (): number => clock.wallNow() + wrong
    database.nowMs = realNow
    database.add(...many(1))
    const running = harness.start()
    await clock.advance(1)
    expect(signedAt).toHaveLength(1)
    expect(Math.abs((signedAt[0] ?? 0) - realNow())).toBeLessThanOrEqual(1)
    await stopRun(harness, running)
  })
}

Deno.test('a delivery that is sent later in its batch is signed with the time of its sending', async () => {
  const harness = createHarness()
  const { clock, database, signedAt, courses } = harness
  database.nowMs = () => clock.wallNow() + fiveMinutes
  const ordered = { lane: '1', ordered: true, lease_ms: 60_000 }
  database.add(ordered, ordered)
  courses['event-1'] = { ms: 7_000 }
  const running = harness.start()
  await clock.advance(8_000)
  expect(signedAt).toHaveLength(2)
  expect((signedAt[1] ?? 0) - (signedAt[0] ?? 0)).toBe(7_000)
  await stopRun(harness, running)
})

Deno.test('a delivery is signed with the clock of the worker if an older database does not send its time', async () => {
  const harness = createHarness()
  const { clock, database, signedAt } = harness
  database.add(...many(1))
  const running = harness.start()
  const before = clock.wallNow()
  await clock.advance(1)
  expect(signedAt).toEqual([before])
  await stopRun(harness, running)
})
