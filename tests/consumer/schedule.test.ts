import { expect } from '@std/expect'
import { delayMs, mostAttempts } from '../../consumer/schedule.ts'

Deno.test('delayMs() doubles from a second, with jitter, up to 30 s', () => {
  const waits = (random: number): number[] =>
    Array.from({ length: mostAttempts }, (_, n) => delayMs(n + 1, random))
  expect(waits(0.5)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
  expect(waits(0)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000])
  expect(waits(1)).toEqual([1_500, 3_000, 6_000, 12_000, 24_000, 30_000])
})
