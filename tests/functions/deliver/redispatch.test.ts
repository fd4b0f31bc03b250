import { expect } from '@std/expect'
import type { DispatchCall } from '../../../functions/_shared/contract/contract.ts'
import type { DispatchReply } from '../../../functions/_shared/database/dispatch.ts'
import { kindOfError } from '../../../functions/_shared/database/fault.ts'
import { type DispatchEnd, dispatchWithRetries } from '../../../functions/deliver/redispatch.ts'
import { createFaultLog } from '../../../functions/deliver/fault_log.ts'
import { createFakeClock, type FakeClock } from './fake_clock.ts'

const call: DispatchCall = {
  run: 'run-1',
  seq: 1,
  results: [],
  limit: 10,
  kind: 'worker',
  ended: false,
  known: { 'endpoint-1': '7' },
  held: 0,
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
  outcome: DispatchEnd | undefined
}

/** A database whose every answer is an error of that code. */
function trying(
  code: string,
  { of = call, retriesPermanent = true }: { of?: DispatchCall; retriesPermanent?: boolean } = {},
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
    const fault = { kind: kindOfError(trial), code: trial.code, message: 'x', cause: undefined }
    return Promise.resolve({ ok: false, fault })
  }
  const deps = {
    database: { dispatch, close: () => Promise.resolve() },
    clock,
    random: () => 0.5,
    log,
    stop: stop.signal,
  }
  void dispatchWithRetries(deps, of, {
    faultLog: createFaultLog(log),
    giveUpAt: () => 600_000,
    retriesPermanent,
  }).then((outcome) => {
    trial.outcome = outcome
  })
  return trial
}

Deno.test('a temporary fault is retried after 50 ms, doubled each time, at most 2 s', async () => {
  const { clock, calls } = trying('08006')
  await clock.advance(8_000)
  const waits = calls.slice(1).map(({ at }, n) => at - (calls[n]?.at ?? 0))
  expect(waits.slice(0, 8)).toEqual([50, 100, 200, 400, 800, 1_600, 2_000, 2_000])
})

Deno.test('a permanent fault is retried after 5 s, doubled each time, at most 60 s', async () => {
  const { clock, calls } = trying('42501')
  await clock.advance(300_000)
  const waits = calls.slice(1).map(({ at }, n) => at - (calls[n]?.at ?? 0))
  expect(waits.slice(0, 6)).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
})

Deno.test('without retriesPermanent a permanent fault ends the call at once', async () => {
  const trial = trying('42501', { retriesPermanent: false })
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

Deno.test('a call that times out is divided at once; a single result five times later', async () => {
  const many = trying('57014', { of: { ...call, results: results(2) } })
  await many.clock.advance(1)
  expect([many.calls.length, many.outcome]).toMatchObject([1, { refused: { code: '57014' } }])
  const one = trying('57014', { of: { ...call, results: results(1) } })
  await one.clock.advance(60_000)
  expect([one.calls.length, one.outcome]).toMatchObject([5, { refused: { code: '57014' } }])
})

Deno.test('after three stalls, each repeat requests to refuse rows', async () => {
  for (const code of ['40P01', '55P03', '57014']) {
    const { clock, calls } = trying(code)
    await clock.advance(1_000)
    expect(calls.slice(0, 5).map((made) => made.call.refuse ?? false))
      .toEqual([false, false, false, true, true])
  }
  for (const code of ['08006', '53300', '57P01', '25006']) {
    const { clock, calls } = trying(code)
    await clock.advance(10_000)
    expect([calls.length > 5, calls.some((made) => 'refuse' in made.call)]).toEqual([true, false])
  }
})

Deno.test('each kind of fault is logged once, as an error if an operator must act', async () => {
  const trial = trying('08006')
  await trial.clock.advance(1_000)
  expect(trial.lines).toEqual(['warn dispatch failed'])
  trial.code = '42501'
  await trial.clock.advance(60_000)
  expect(trial.lines).toEqual(['warn dispatch failed', 'error dispatch failed'])
})

Deno.test('a fault that recurs is logged again, and so is its end', () => {
  const lines: string[] = []
  const faultLog = createFaultLog((level, message) => {
    lines.push(`${level} ${message}`)
  })
  const fault = { kind: 'temporary', code: '08006', message: 'x', cause: undefined } as const
  faultLog.clear('run-1')
  for (let time = 1; time <= 2; time++) {
    faultLog.report('run-1', fault)
    faultLog.report('run-1', fault)
    faultLog.clear('run-1')
    faultLog.clear('run-1')
  }
  const once = ['warn dispatch failed', 'info dispatch responds again']
  expect(lines).toEqual([...once, ...once])
})
