import { expect } from '@std/expect'
import { createCallbackCounts } from '../../../../../functions/_shared/messages/callbacks/counts.ts'
import type {
  CountReply,
  ResponseCount,
} from '../../../../../functions/_shared/messages/callbacks/database.ts'
import { nextTurn } from '../../../next_turn.ts'

function setUp(): {
  saved: ResponseCount[][]
  waits: (() => void)[]
  lines: string[]
  count: (status: number) => void
  state: { reply: () => Promise<CountReply> }
} {
  const saved: ResponseCount[][] = []
  const waits: (() => void)[] = []
  const lines: string[] = []
  const state = { reply: (): Promise<CountReply> => Promise.resolve({ ok: true }) }
  const count = createCallbackCounts({
    save: (counts) => {
      saved.push(counts)
      return state.reply()
    },
    log: (_level, message) => lines.push(message),
    later: (work) => void waits.push(work),
  })
  return { saved, waits, lines, count, state }
}

Deno.test('responses to callbacks are counted by status and reported together', async () => {
  const { saved, waits, count } = setUp()
  for (const status of [401, 200, 401, 413]) count(status)
  expect(waits.length).toBe(1)
  waits[0]?.()
  await nextTurn()
  const first = [{ status: 401, n: 2 }, { status: 200, n: 1 }, { status: 413, n: 1 }]
  expect(saved).toEqual([first])
  count(401)
  expect(waits.length).toBe(2)
  waits[1]?.()
  await nextTurn()
  expect(saved).toEqual([first, [{ status: 401, n: 1 }]])
})

Deno.test('counts of callbacks whose report fails are part of the next report', async () => {
  for (
    const reply of [
      (): Promise<CountReply> => Promise.resolve({ ok: false, error: 'away' }),
      (): Promise<CountReply> => Promise.reject(new Error('away')),
    ]
  ) {
    const { saved, waits, lines, count, state } = setUp()
    state.reply = reply
    count(401)
    waits[0]?.()
    await nextTurn()
    await nextTurn()
    expect(lines).toEqual(['callbacks not counted yet'])
    state.reply = (): Promise<CountReply> => Promise.resolve({ ok: true })
    count(401)
    expect(waits.length).toBe(2)
    waits[1]?.()
    await nextTurn()
    expect(saved[1]).toEqual([{ status: 401, n: 2 }])
  }
})
