import { expect } from '@std/expect'
import { loadTimes } from '../bench/console/load.ts'

Deno.test('the benchmark of the load time finds the first control of the console and of the portal', async () => {
  const times = await loadTimes(1)
  expect(Object.keys(times)).toEqual(['console', 'portal'])
  for (const [page, ms] of Object.entries(times)) {
    expect([page, ms]).toEqual([page, [expect.any(Number)]])
  }
})
