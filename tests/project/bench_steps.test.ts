import { expect } from '@std/expect'
import { codeSteps, databaseSteps } from '../bench/steps/code_steps.ts'
import { type Profile, profileOf, timeOfSteps } from '../bench/steps/profile.ts'
import { rowsOf, steps } from '../bench/steps.ts'

const file = (path: string): string => `file:///outhook/functions/${path}`

/** root > run > send > native write; root > poll; root > idle; root > collector. */
const profile: Profile = {
  nodes: [
    { id: 1, callFrame: { functionName: '(root)', url: '' }, children: [2, 5, 6, 7] },
    {
      id: 2,
      callFrame: { functionName: 'send', url: file('deliver/turn.ts') },
      children: [3],
    },
    {
      id: 3,
      callFrame: { functionName: 'write', url: file('_shared/http1/connection.ts') },
      children: [4],
    },
    { id: 4, callFrame: { functionName: 'writeBuffer', url: 'ext:deno_node/net.ts' } },
    { id: 5, callFrame: { functionName: 'poll', url: 'ext:core/01_core.js' } },
    { id: 6, callFrame: { functionName: '(idle)', url: '' } },
    { id: 7, callFrame: { functionName: '(garbage collector)', url: '' } },
  ],
  samples: [2, 3, 4, 5, 6, 7],
  timeDeltas: [100, 20, 30, 40, 5_000, 60],
}

Deno.test('timeOfSteps() gives the time of the runtime to the step that called it, and leaves out waiting', () => {
  expect(Object.fromEntries(timeOfSteps(profile, codeSteps, 'other'))).toEqual({
    'run: slots, leases, results': 100,
    'send: take a connection, write to the socket': 50,
    other: 40,
    'collect garbage': 60,
  })
})

Deno.test('rowsOf() is a table of µs for one delivery, each part with its sum', () => {
  const ms = new Map([['publish_many', 1], ['dispatch', 10], ['claim_for', 4], ['route', 2]])
  const rows = rowsOf(ms, profile, 10)
  const us = (at: string, word: string): number | null | undefined =>
    rows.find((row) => row.at === at && row.series.startsWith(word))?.values.us
  expect(us('database', 'publish')).toBe(100)
  expect(us('database', 'claim')).toBe(400)
  expect(us('database', 'call')).toBe(400)
  expect(us('database', 'sum')).toBe(1_100)
  expect(us('worker', 'send')).toBe(5)
  expect(us('worker', 'sum')).toBe(25)
})

Deno.test('profileOf() sees the functions that use the CPU', async () => {
  const { nodes, samples } = await profileOf(() => {
    burn(performance.now() + 200)
    return Promise.resolve()
  })
  expect(samples.length).toBeGreaterThan(0)
  expect(nodes.map(({ callFrame }) => callFrame.functionName)).toContain('burn')
})

function burn(until: number): number {
  let sum = 0
  while (performance.now() < until) sum += Math.sqrt(sum + 1)
  return sum
}

Deno.test('the table of steps shows time in each step of a real delivery', async () => {
  const { rows } = await steps.run('small', () => {}, { loop: [] })
  const zero = rows.filter(({ values }) => !(Number(values.us) > 0)).map(({ series }) => series)
  // Too short to be sampled for certain.
  const rare = /^(collect|connect|parse|build|sign)/
  expect(zero.filter((series) => !rare.test(series))).toEqual([])
  expect(rows.filter(({ at }) => at === 'database')).toHaveLength(databaseSteps.length + 2)
})
