import { expect } from '@std/expect'
import type { ApiDatabase } from '../../../functions/api/database.ts'
import { createRequestCounts } from '../../../functions/api/request_counts.ts'
import { nextTurn } from '../next_turn.ts'

type Note = { method: string; route: string; status: number; n: number; ms: number }[]

function setUp(): {
  notes: Note[]
  waits: (() => void)[]
  count: ReturnType<typeof createRequestCounts>
  state: { fails: boolean }
} {
  const notes: Note[] = []
  const waits: (() => void)[] = []
  const state = { fails: false }
  const call: ApiDatabase['call'] = (_name, args, answer) => {
    if (state.fails) return Promise.reject(new Error('away'))
    // SAFETY: it calls count_requests alone.
    notes.push((args as unknown as { p_requests: Note }).p_requests)
    return Promise.resolve(answer.parse({ noted: true }))
  }
  const count = createRequestCounts({
    database: { call },
    log: () => {},
    later: (work) => void waits.push(work),
  })
  return { notes, waits, count, state }
}

const get = { method: 'GET', route: '/api/v1/events', status: 200 }

Deno.test('requests are reported together, once in a while', async () => {
  const { notes, waits, count } = setUp()
  count({ ...get, ms: 3.2 })
  count({ ...get, ms: 3 })
  count({ ...get, ms: 40 })
  count({ ...get, method: 'BREW', ms: 3 })
  expect(waits.length).toBe(1)
  waits[0]?.()
  await nextTurn()
  expect(notes).toEqual([[
    { ...get, n: 2, ms: 6 },
    { ...get, n: 1, ms: 40 },
    { ...get, method: 'OTHER', n: 1, ms: 3 },
  ]])
})

Deno.test('a report that fails is joined to the next one', async () => {
  const { notes, waits, count, state } = setUp()
  state.fails = true
  count({ ...get, ms: 3 })
  waits[0]?.()
  await nextTurn()
  state.fails = false
  count({ ...get, ms: 3 })
  expect(waits.length).toBe(2)
  waits[1]?.()
  await nextTurn()
  expect(notes).toEqual([[{ ...get, n: 2, ms: 6 }]])
})
