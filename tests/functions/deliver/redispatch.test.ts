import { expect } from '@std/expect'
import type { DispatchCall } from '../../../functions/_shared/contract/contract.ts'
import type { DispatchReply } from '../../../functions/_shared/database/dispatch.ts'
import { kindOfCode } from '../../../functions/_shared/database/fault.ts'
import { type Dispatched, dispatchUntilAnswered } from '../../../functions/deliver/redispatch.ts'
import { createTrouble } from '../../../functions/deliver/trouble.ts'
import { createFakeClock, type FakeClock } from './fake_clock.ts'

const call: DispatchCall = {
  run: 'run-1',
  seq: 1,
  results: [],
  limit: 10,
  kind: 'worker',
  ended: false,
  known: { 'endpoint-1': '7' },
}

function results(count: number): DispatchCall['results'] {
  return Array.from({ length: count }, (_, n) => ({
    event: `event-${n}`,
    endpoint: 'endpoint-1',
    attempt: 1,
    outcome: 'delivered',
    duration_ms: 1,
  }))
}

type Trial = {
  clock: FakeClock
  stop: AbortController
  calls: { at: number; call: DispatchCall }[]
  lines: string[]
  /** The error of the next calls. */
  code: string
  outcome: Dispatched | undefined
}

/** A database whose every answer is an error of that code. */
function trying(
  code: string,
  { of = call, asksOn = true }: { of?: DispatchCall; asksOn?: boolean } = {},
): Trial {
  const clock = createFakeClock()
  const stop = new AbortController()
  const calls: Trial['calls'] = []
  const lines: string[] = []
  const log = (level: string, message: string): void => {
    lines.push(`${level} ${message}`)
  }
  const trial: Trial = { clock, stop, calls, lines, code, outcome: undefined }
  const dispatch = (made: DispatchCall): Promise<DispatchReply> => {
    calls.push({ at: clock.now(), call: made })
    const fault = { kind: kindOfCode(trial.code), code: trial.code, message: 'x', cause: undefined }
    return Promise.resolve({ ok: false, fault })
  }
  const deps = {
    database: { dispatch, close: () => Promise.resolve() },
    clock,
    random: () => 0.5,
    log,
    stop: stop.signal,
  }
  void dispatchUntilAnswered(deps, of, {
    trouble: createTrouble(log),
    giveUpAt: () => 600_000,
    asksOn,
  }).then((outcome) => {
    trial.outcome = outcome
  })
  return trial
}

Deno.test('a call that meets what passes is made again after 50 ms, twice as long each time, 2 s at most', async () => {
  const { clock, calls } = trying('08006')
  await clock.advance(8_000)
  const waits = calls.slice(1).map(({ at }, n) => at - (calls[n]?.at ?? 0))
  expect(waits.slice(0, 8)).toEqual([50, 100, 200, 400, 800, 1_600, 2_000, 2_000])
})

Deno.test('a call that a person must see to is made again after 5 s, twice as long each time, 60 s at most', async () => {
  const { clock, calls } = trying('42501')
  await clock.advance(300_000)
  const waits = calls.slice(1).map(({ at }, n) => at - (calls[n]?.at ?? 0))
  expect(waits.slice(0, 6)).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
})

Deno.test('a run that does not ask on gives such a call up at once', async () => {
  const trial = trying('42501', { asksOn: false })
  await trial.clock.advance(1)
  expect([trial.outcome, trial.calls.length]).toEqual([null, 1])
})

Deno.test('a stop ends a slow pause, and those after it are short', async () => {
  const trial = trying('42501')
  await trial.clock.advance(40_000)
  expect(trial.calls).toHaveLength(4)
  trial.stop.abort()
  await trial.clock.advance(1)
  expect(trial.calls).toHaveLength(5)
  await trial.clock.advance(10_000)
  // One each 2 s, and not one after the other.
  expect(trial.calls).toHaveLength(10)
})

Deno.test('a call with results is divided where the database refuses something of it', async () => {
  const refused = trying('22P05', { of: { ...call, results: results(2) } })
  await refused.clock.advance(1)
  expect(refused.outcome).toMatchObject({ refused: { code: '22P05' } })
  const empty = trying('22P05')
  await empty.clock.advance(1)
  expect(empty.outcome).toBe(undefined)
})

Deno.test('a call that takes too long is divided at once, and given up alone after five times', async () => {
  const many = trying('57014', { of: { ...call, results: results(2) } })
  await many.clock.advance(1)
  expect([many.calls.length, many.outcome]).toMatchObject([1, { refused: { code: '57014' } }])
  const one = trying('57014', { of: { ...call, results: results(1) } })
  await one.clock.advance(60_000)
  expect([one.calls.length, one.outcome]).toMatchObject([5, { refused: { code: '57014' } }])
})

Deno.test('each kind of trouble is said once, as an error where a person must see to it', async () => {
  const trial = trying('08006')
  await trial.clock.advance(1_000)
  expect(trial.lines).toEqual(['warn dispatch failed'])
  trial.code = '42501'
  await trial.clock.advance(60_000)
  expect(trial.lines).toEqual(['warn dispatch failed', 'error dispatch failed'])
})

Deno.test('trouble that comes back is said again, and so is its end', () => {
  const lines: string[] = []
  const trouble = createTrouble((level, message) => {
    lines.push(`${level} ${message}`)
  })
  const fault = { kind: 'passes', code: '08006', message: 'x', cause: undefined } as const
  trouble.end('run-1')
  for (let time = 1; time <= 2; time++) {
    trouble.say('run-1', fault)
    trouble.say('run-1', fault)
    trouble.end('run-1')
    trouble.end('run-1')
  }
  const once = ['warn dispatch failed', 'info dispatch answered again']
  expect(lines).toEqual([...once, ...once])
})
