import { expect } from '@std/expect'
import { createPacer } from '../../../functions/deliver/pacer.ts'
import { sampleChannel, sampleMessage } from '../samples.ts'
import { createFakeClock } from './fake_clock.ts'

Deno.test('wait() keeps the messages of a number apart, and waits for no other number', async () => {
  const clock = createFakeClock()
  const pacer = createPacer(clock)
  const left: [string, number][] = []
  const send = (name: string, number: string, wait_ms: number): Promise<void> =>
    pacer.wait(
      sampleMessage({ wait_ms }),
      sampleChannel({ phone_number_id: number, spacing_ms: 10 }),
    )
      .then(() => void left.push([name, clock.now()]))
  const begun = clock.now()
  const all = Promise.all([
    send('a1', 'a', 0),
    // Claimed together after a pause of the run: each is due, and still leaves by itself.
    send('a2', 'a', 0),
    send('a3', 'a', 5),
    send('b1', 'b', 0),
    send('a4', 'a', 100),
  ])
  await clock.advance(200)
  await all
  expect(left.map(([name, at]) => [name, at - begun]).sort()).toEqual([
    ['a1', 0],
    ['a2', 10],
    ['a3', 20],
    ['a4', 100],
    ['b1', 0],
  ])
})
