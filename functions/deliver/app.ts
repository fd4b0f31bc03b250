import { Hono } from 'hono'
import { contractRange, type ContractRefusal } from '../_shared/contract/range.ts'
import { notFound } from '../_shared/http/not_found.ts'
import { problemResponse } from '../_shared/http/problem.ts'
import { responseHeaders } from '../_shared/http/response_headers.ts'
import { version } from '../_shared/base/version.ts'
import { verifyKick } from './kick.ts'

export type AppDeps = {
  /** The kick secrets in force; an empty list: the function is not set up yet. */
  kickSecrets: readonly string[]
  startRun(): StartedRun
  /** Keeps the process alive until the promise settles. */
  waitUntil(promise: Promise<void>): void
  /** Milliseconds since 1970. */
  wallNow(): number
}

/** A run that has started; neither promise rejects. */
export type StartedRun = {
  /** Why its first dispatch was refused; null if it was accepted or has no response within 1 s. */
  first: Promise<ContractRefusal | null>
  end: Promise<void>
}

/**
 * The function's HTTP side: `POST /deliver/run` starts a run (202), `GET /deliver/health` returns the
 * version and the supported contracts. Errors are problem details: 401 invalid_kick, 503
 * not_configured or contract_mismatch, 404 not_found.
 */
export function createApp({ kickSecrets, startRun, waitUntil, wallNow }: AppDeps): Hono {
  const app = new Hono().basePath('/deliver')
  app.use(responseHeaders)

  app.get('/health', (c) => c.json({ status: 'ok', version, contracts: contractRange }))

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
    const { first, end } = startRun()
    waitUntil(end)
    const refusal = await first
    if (refusal === null) return c.json({}, 202)
    return problemResponse({
      status: 503,
      code: 'contract_mismatch',
      title: `Update the ${refusal.update}`,
      detail: refusal.message,
    })
  })

  app.notFound(notFound(app))
  return app
}
