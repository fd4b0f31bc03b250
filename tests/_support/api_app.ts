import { callbackDatabase } from '../../functions/_shared/messages/callbacks/database.ts'
import { connectFunctions } from '../../functions/_shared/database/functions.ts'
import { createApp } from '../../functions/api/app.ts'
import { createAuthenticate } from '../../functions/api/auth/authenticate.ts'
import { lazyChannelCheck } from '../../functions/api/channel_check/load.ts'
import type { ApiApp } from '../../functions/api/context.ts'
import { apiDatabase } from '../../functions/api/database.ts'
import { type RequestLimits, requestLimits } from '../../functions/api/middleware/limits.ts'
import { startOuthook, type TestOuthook } from './outhook.ts'

/** The API in the test's own process, on a stack of its own. */
export interface TestApi {
  readonly outhook: TestOuthook
  readonly app: ApiApp
  /** What it logged. */
  readonly lines: string[]
  /** An app with other limits or origins on the same stack. */
  another(more: { limits?: Partial<RequestLimits>; corsOrigins?: string[] }): ApiApp
  /** A user's token for an org with these scopes and sets of scopes. */
  token(orgId: string, scopes: readonly string[]): Promise<string>
}

/** Starts it, without the functions of the stack; with `cronAlone` only pg_cron ticks. */
export async function startApi(options: { cronAlone?: boolean } = {}): Promise<TestApi> {
  const outhook = await startOuthook({ ...options, functions: [] })
  const { stack } = outhook
  const lines: string[] = []
  const url = new URL(stack.apiUrl)
  const secretKeys = [{ name: 'default', key: stack.keys.secretKey }]
  const callFunction = connectFunctions({ url: stack.apiUrl, key: stack.keys.secretKey })

  function another(
    { limits = {}, corsOrigins = [] }: { limits?: Partial<RequestLimits>; corsOrigins?: string[] },
  ): ApiApp {
    return createApp({
      database: apiDatabase(callFunction),
      callbacks: callbackDatabase(callFunction),
      authenticate: createAuthenticate({
        secretKeys,
        publishableKeys: [],
        portalSecrets: [stack.keys.portalSecret],
        jwks: stack.keys.jwks,
        jwksUrl: new URL('/auth/v1/.well-known/jwks.json', url),
        legacySecret: null,
        issuers: [`${url.origin}/auth/v1`],
        wallNow: Date.now,
      }),
      portalSecrets: [stack.keys.portalSecret],
      verifySecrets: [stack.keys.verifySecret],
      checkChannel: lazyChannelCheck({ transport: 'http1', wallNow: Date.now }),
      corsOrigins,
      wallNow: Date.now,
      now: () => performance.now(),
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      log: (level, message, fields) => lines.push(JSON.stringify({ level, message, ...fields })),
    }, { ...requestLimits, ...limits })
  }

  async function token(orgId: string, scopes: readonly string[]): Promise<string> {
    return await stack.keys.signUserJwt({
      iss: `${url.origin}/auth/v1`,
      app_metadata: { org_id: orgId, outhook_scopes: scopes },
    })
  }

  // The proofs send as fast as they can; the limit has tests of its own.
  await outhook.sql`select outbox.set_setting('api.requests_per_second', '100000'),
    outbox.set_setting('api.burst', '100000')`
  return { outhook, app: another({}), lines, another, token }
}
