import { expect } from '@std/expect'
import type { Clock } from '../../../../../functions/_shared/base/clock.ts'
import { createPacer } from '../../../../../functions/_shared/senders/whatsapp/pacer.ts'
import { sampleChannel, sampleMessage } from '../../../samples.ts'
import { createFakeClock, type FakeClock } from '../../../deliver/fake_clock.ts'

type Sent = [message: string, ms: number]

/** Has messages wait for their turn, all at once; gives when each left. */
async function pace(
  clock: FakeClock,
  messages: [name: string, number: string, wait_ms: number][],
  seen: Clock = clock,
  capacity?: number,
): Promise<Sent[]> {
  const pacer = createPacer(seen, capacity)
  const begun = clock.now()
  const left: Sent[] = []
  const all = messages.map(async ([name, phone_number_id, wait_ms]) => {
    await pacer.wait(sampleMessage({ wait_ms }), sampleChannel({ phone_number_id, spacing_ms: 10 }))
    left.push([name, clock.now() - begun])
  })
  await clock.advance(2_000)
  await Promise.all(all)
  return left.sort()
}

Deno.test('wait() spaces the messages of a number, independent of other numbers', async () => {
  const left = await pace(createFakeClock(), [
    ['a1', 'a', 0],
    ['a2', 'a', 0],
    ['a3', 'a', 5],
    ['a4', 'a', 100],
    ['b1', 'b', 0],
  ])
  expect(left).toEqual([['a1', 0], ['a2', 10], ['a3', 20], ['a4', 100], ['b1', 0]])
})

Deno.test('wait() forgets the number that sent longest ago', async () => {
  const left = await pace(
    createFakeClock(),
    [['a1', 'a', 0], ['b1', 'b', 0], ['a2', 'a', 0], ['c1', 'c', 0], ['a3', 'a', 0], [
      'b2',
      'b',
      0,
    ]],
    undefined,
    2,
  )
  expect(left).toEqual([['a1', 0], ['a2', 10], ['a3', 20], ['b1', 0], ['b2', 0], ['c1', 0]])
})

Deno.test('wait() makes up for 20 ms of a timer that is late, and for no more', async () => {
  const clock = createFakeClock()
  let more = 500
  const held: Clock = {
    ...clock,
    now: () => clock.now(),
    after(ms, run): () => void {
      const cancel = clock.after(ms + more, run)
      more = 0
      return cancel
    },
  }
  const names = Array.from({ length: 10 }, (_, n) => `a${n}`)
  const left = await pace(clock, names.map((name, n) => [name, 'a', n * 10]), held)
  // The second leaves 500 ms late, and two more with it, as if it had been late by 20.
  expect(left.map(([, at]) => at)).toEqual([0, 510, 510, 510, 520, 530, 540, 550, 560, 570])
})
