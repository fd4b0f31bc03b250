/** The API without a stack: a test says what the database returns. */

import { createApp } from '../../functions/api/app.ts'
import type { Principal } from '../../functions/api/auth/principal.ts'
import { allScopes, type Scope } from '../../functions/api/auth/scopes.ts'
import type { ApiApp, ApiDeps } from '../../functions/api/context.ts'

type Args = Record<string, unknown>

export interface AloneOptions {
  /** What a function of the database returns, or a promise of it; it throws what the database refuses. */
  result(
    name: string,
    args: Args,
    traceparent: string | null | undefined,
    actor: string | undefined,
  ): unknown
  /** What take_requests() grants, call after call, and then 0; 50 in each call if it is absent. */
  grants?: number[]
  /** How many calls to the database are made at once for the organisation, by default 8. */
  maxInFlight?: number
  /** Whether results are checked by their schemas, as they are unless it is false. */
  checked?: boolean
  scopes?: readonly Scope[]
  /** The caller's token of the portal; null: the caller has a secret key. */
  portal?: Principal['portal']
  /** What the test needs otherwise than the app has it here. */
  deps?: Partial<ApiDeps>
}

/** Makes the app for one caller of the organisation `org-1`. Its clock stands at 0, and it logs nothing. */
export function apiAlone(
  { result, grants, maxInFlight = 8, checked = true, scopes = allScopes, portal = null, deps = {} }:
    AloneOptions,
): ApiApp {
  const granted = (): unknown => ({
    granted: grants === undefined ? 50 : grants.shift() ?? 0,
    retryAfterMs: 1000,
    portal: { generation: 0, revoked: [] },
    maxInFlight,
  })
  const unused = (): Promise<never> => Promise.reject(new Error('unused'))
  return createApp({
    database: {
      call: async (name, args, schema, more) => {
        if (name === 'take_requests') return schema.parse(granted())
        const value = await result(name, { ...args }, more?.traceparent, more?.actor)
        // SAFETY: without a check the handlers of the test only pass it on.
        return checked ? schema.parse(value) : value as never
      },
    },
    callbacks: { findApp: unused, store: unused },
    checkChannel: () => Promise.resolve([]),
    authenticate: () =>
      Promise.resolve({
        ...{ orgId: 'org-1', scopes: new Set(scopes), actor: 'key:default', portal },
        kind: portal === null ? 'key' : 'portal',
      }),
    portalSecrets: [],
    verifySecrets: [],
    corsOrigins: [],
    wallNow: Date.now,
    now: () => 0,
    sleep: () => Promise.resolve(),
    log: () => {},
    ...deps,
  })
}
