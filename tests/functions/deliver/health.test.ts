import { expect } from '@std/expect'
import type { DispatchCall } from '../../../functions/_shared/contract/contract.ts'
import type { Database, DispatchReply } from '../../../functions/_shared/database/dispatch.ts'
import { createHealth, type Health } from '../../../functions/deliver/health.ts'
import { PortError, serveHealth } from '../../../functions/deliver/health_server.ts'
import { createFakeClock, type FakeClock } from './fake_clock.ts'

// SAFETY: the watched database does not read the call.
const call = {} as DispatchCall

// SAFETY: only `stop` is read.
const answered = (stop: string | null): DispatchReply =>
  ({ ok: true, response: { stop } }) as DispatchReply

function failed(kind: 'temporary' | 'partial' | 'permanent', update?: 'functions'): DispatchReply {
  const fault = { kind, code: '', message: 'postgres at 10.0.0.1 has no place', cause: null }
  const refusal = update === undefined ? {} : { refusal: { update, message: 'secret' } }
  return { ok: false, fault: { ...fault, ...refusal } }
}

/** A worker whose database gives these replies, one for each call. */
function worker(...replies: DispatchReply[]): {
  clock: FakeClock
  stop: AbortController
  health: Health
  database: Database
} {
  const clock = createFakeClock()
  const stop = new AbortController()
  const health = createHealth({ clock, stop: stop.signal })
  const database = health.watch({
    dispatch: () => Promise.resolve(replies.shift() ?? answered(null)),
    close: () => Promise.resolve(),
  })
  return { clock, stop, health, database }
}

Deno.test('a worker is ready from the first response until the database does not respond', async () => {
  const rows: [DispatchReply, string | null][] = [
    [answered(null), null],
    [failed('temporary'), 'the database does not respond'],
    [answered(null), null],
    [failed('permanent'), 'the database refuses the call'],
    [answered('another_project'), 'refused: another_project'],
    [failed('permanent', 'functions'), 'refused: update the functions'],
    [answered('disabled'), 'refused: disabled'],
    [failed('partial'), null],
  ]
  const { health, database } = worker(...rows.map(([reply]) => reply))
  expect(health.unready()).toBe('no response of the database yet')
  for (const [, problem] of rows) {
    await database.dispatch(call)
    expect(health.unready()).toBe(problem)
  }
})

Deno.test('a worker that stops is not ready, and never counts as stuck', async () => {
  const { clock, stop, health, database } = worker()
  await database.dispatch(call)
  stop.abort()
  expect(health.unready()).toBe('draining')
  await clock.advance(600_000)
  expect(health.stuck()).toBe(null)
})

Deno.test('a worker is stuck after more than five minutes without a call', async () => {
  const { clock, health, database } = worker()
  await clock.advance(200_000)
  await database.dispatch(call)
  await clock.advance(300_000)
  expect(health.stuck()).toBe(null)
  await clock.advance(1)
  expect(health.stuck()).toBe('no call for five minutes')
})

Deno.test('the port responds with what is wrong, and with 404 to everything else', async () => {
  const found: { unready: string | null; stuck: string | null } = {
    unready: 'draining',
    stuck: null,
  }
  const health = { unready: () => found.unready, stuck: () => found.stuck }
  const server = await serveHealth({ port: 0, health })
  const get = async (path: string): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`)
    return `${response.status} ${(await response.text()).trim()}`
  }
  try {
    expect(await get('/ready')).toBe('503 draining')
    expect(await get('/live?x=1')).toBe('200 ok')
    found.unready = null
    found.stuck = 'no call for five minutes'
    expect(await get('/ready')).toBe('200 ok')
    expect(await get('/live')).toBe('503 no call for five minutes')
    expect(await get('/')).toBe('404 only /ready and /live')
    await expect(serveHealth({ port: server.port, health })).rejects.toThrow(
      `Cannot start: OUTHOOK_HEALTH_PORT: port ${server.port}: `,
    )
    await expect(serveHealth({ port: server.port, health })).rejects.toBeInstanceOf(PortError)
  } finally {
    await server.close()
  }
})
