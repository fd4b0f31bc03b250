import { Hono } from 'hono'
import { contractRange } from '../_shared/contract/range.ts'
import { notFound } from '../_shared/http/not_found.ts'
import { problemResponse } from '../_shared/http/problem.ts'
import { responseHeaders } from '../_shared/http/response_headers.ts'
import { version } from '../_shared/base/version.ts'
import { databaseOfKick, verifyKick } from './kick.ts'
import type { RunRefusal } from './refusal.ts'

export type AppDeps = {
  /** The kick secrets in force; an empty list: the function is not set up yet. */
  kickSecrets: readonly string[]
  /** Starts a run; `kick` is the database that sent the kick, null if the kick names none. */
  startRun(kick: string | null): StartedRun
  /** Keeps the process alive until the promise settles. */
  waitUntil(promise: Promise<void>): void
  /** Milliseconds since 1970. */
  wallNow(): number
}

/** A run that has started; neither promise rejects. */
export type StartedRun = {
  /** Why its first dispatch was refused; null if it was accepted or has no response within 1 s. */
  first: Promise<RunRefusal | null>
  end: Promise<void>
}

/**
 * The function's HTTP side: `POST /deliver/run` starts a run (202), `GET /deliver/health` returns the
 * version and the supported contracts, and `status`: `ok`, or the code of the refusal if the last run of
 * this process got nothing. `POST /deliver/test` accepts any test event (204). Errors are problem
 * details: 401 invalid_kick, 409 foreign_kick, 503 not_configured, contract_mismatch, another_project,
 * no_project or deciding, 404 not_found.
 */
export function createApp({ kickSecrets, startRun, waitUntil, wallNow }: AppDeps): Hono {
  const root = new Hono()
  root.use(responseHeaders)
  const app = root.basePath('/deliver')
  let status = 'ok'

  app.get('/health', (c) => c.json({ status, version, contracts: contractRange }))

  // The endpoint of `outhook check`. It stores nothing and reads nothing, so it authenticates nobody.
  app.post('/test', (c) => c.body(null, 204))

  app.post('/run', async (c) => {
    if (kickSecrets.length === 0) {
      return problemResponse({
        status: 503,
        code: 'not_configured',
        title: 'Not configured',
        detail: 'OUTHOOK_WORKER_SECRET is not set: set it to the secret of outbox.configure',
      })
    }
    const nowSeconds = Math.floor(wallNow() / 1000)
    if (!verifyKick(c.req.header('x-outhook-kick'), kickSecrets, nowSeconds)) {
      return problemResponse({
        status: 401,
        code: 'invalid_kick',
        title: 'Not a valid kick',
        detail: 'The x-outhook-kick header is missing, too old, or signed with another secret',
      })
    }
    const kick = databaseOfKick(c.req.header('x-outhook-database'))
    const { first, end } = startRun(kick)
    waitUntil(end)
    const refusal = await first
    // A kick of a copy says nothing about this function.
    if (refusal?.code !== 'foreign_kick') status = refusal?.code ?? 'ok'
    if (refusal === null) return c.json({}, 202)
    // The copy recognises its own kick by the database.
    return problemResponse({ ...refusal, ...(kick === null ? {} : { database: kick }) })
  })

  app.notFound(notFound(app))
  return app
}
