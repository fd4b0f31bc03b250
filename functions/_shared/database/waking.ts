import postgres from 'postgres'
import { type Clock, systemClock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'

/** Tells the runs of a process when there may be work before their next poll. */
export type Waker = {
  /** Whether a notification of the database arrives here. */
  readonly isListening: boolean
  /** Connects and listens, at the first call. */
  start(): void
  /** Calls `wake` at each notification, until the returned function is called. */
  subscribe(wake: () => void): () => void
  close(): Promise<void>
}

export type WakerOptions = {
  /** A connection string. */
  url: string
  log?: Log
  clock?: Clock
  /** The pause before it connects again. */
  retryMs?: number
  /** How long it may take to connect and to test the connection. */
  testMs?: number
}

/** The pause before the next test, if no notification arrives over this connection. */
const nextTestMs = 300_000

/** As in `outbox.notify_workers()`. */
const channel = 'outbox_work'

/** One for all tests, so that a pooler's session that a test has left behind listens to one at most. */
const testChannel = 'outbox_test'

/**
 * Listens to the notifications of the database on a connection of its own, and connects again when it is lost.
 * Behind a pooler in transaction mode no notification arrives. So each connection is tested first, with a second
 * one for this time. If nothing arrives, the worker polls, and the next test follows after five minutes. It
 * never throws, and logs each change.
 */
export function listenForWork(
  { url, log = () => {}, clock = systemClock, retryMs = 10_000, testMs = 10_000 }: WakerOptions,
): Waker {
  const wakes = new Set<() => void>()
  let isStarted = false
  let isListening = false
  let isClosed = false
  let said = ''
  let cancel: () => void = () => {}
  let sql: postgres.Sql | null = null

  async function listen(): Promise<void> {
    cancel = () => {}
    const token = crypto.randomUUID()
    let passTest: () => void = () => {}
    let failTest: (reason: Error) => void = () => {}
    const passed = new Promise<void>((resolve, reject) => {
      passTest = resolve
      failTest = reject
    })
    // If nothing waits for it, the test has ended.
    passed.catch(() => {})
    const heard = (name: string, payload: string): void => {
      if (name === channel) { for (const wake of wakes) wake() }
      else if (payload === token) passTest()
    }
    const lose = (): void => {
      failTest(new Error('the connection was lost'))
      leave(opened, retryMs, 'the connection was lost')
    }
    const opened = open(url, heard, lose)
    sql = opened
    try {
      const begin = beginListening(url, opened, token, passed)
      if (!await inTime(begin, clock, testMs)) {
        return leave(opened, nextTestMs, 'no notification arrives over this connection')
      }
      isListening = sql === opened
      if (isListening) say('is woken by commits')
      // Work may have come before.
      for (const wake of wakes) wake()
    } catch (error) {
      leave(opened, retryMs, messageOf(error))
    }
  }

  function leave(opened: postgres.Sql, pauseMs: number, why: string): void {
    if (sql !== opened) return
    sql = null
    isListening = false
    void end(opened)
    if (isClosed) return
    say(`polls only: ${why}`)
    cancel = clock.after(pauseMs, () => void listen())
  }

  function say(what: string): void {
    if (what !== said) log('info', `the worker ${what}`)
    said = what
  }

  return {
    get isListening() {
      return isListening
    },
    start(): void {
      if (isStarted || isClosed) return
      isStarted = true
      void listen()
    },
    subscribe(wake): () => void {
      wakes.add(wake)
      return () => wakes.delete(wake)
    },
    async close(): Promise<void> {
      isClosed = true
      isListening = false
      cancel()
      const opened = sql
      sql = null
      if (opened !== null) await end(opened)
    },
  }
}

/**
 * Makes `sql` listen if notifications arrive there; returns whether they do. A LISTEN would stay in the session
 * of a transaction pooler. So it first looks whether `sql` keeps its session, while a second connection holds
 * another one. It rejects if `passed` does, which must be settled when `sql` is closed: the second connection would
 * keep the process alive.
 */
async function beginListening(
  url: string,
  sql: postgres.Sql,
  token: string,
  passed: Promise<void>,
): Promise<boolean> {
  const other = open(url)
  try {
    const before = await sessionOf(sql)
    await other.unsafe('begin').simple()
    const held = await sessionOf(other)
    if (held === before || await sessionOf(sql) !== before) return false
    await sql.unsafe(`listen ${testChannel}`).simple()
    await other.unsafe(`notify ${testChannel}, '${token}'; commit`).simple()
    await passed
    await sql.unsafe(`unlisten ${testChannel}; listen ${channel}`).simple()
    return true
  } finally {
    void end(other)
  }
}

async function sessionOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql.unsafe<{ pid: number }[]>('select pg_backend_pid() as pid').simple()
  return row?.pid ?? 0
}

function open(
  url: string,
  onnotify: (channel: string, payload: string) => void = () => {},
  onclose: () => void = () => {},
): postgres.Sql {
  // The types of postgres.js do not have `onnotify`.
  const listener = { onnotify }
  return postgres(url, {
    ...listener,
    max: 1,
    connect_timeout: 5,
    max_lifetime: null,
    // A connection that listens is idle, whatever the URL says.
    idle_timeout: 0,
    fetch_types: false,
    onnotice: () => {},
    onclose,
    connection: { application_name: 'outhook' },
  })
}

/** What `done` becomes; false if it takes longer. */
async function inTime(done: Promise<boolean>, clock: Clock, ms: number): Promise<boolean> {
  let cancel: () => void = () => {}
  const late = new Promise<boolean>((resolve) => {
    cancel = clock.after(ms, () => resolve(false))
  })
  // After the time it ends with its connections.
  done.catch(() => {})
  try {
    return await Promise.race([done, late])
  } finally {
    cancel()
  }
}

function end(sql: postgres.Sql): Promise<void> {
  return sql.end({ timeout: 1 }).catch(() => {})
}
