/** What opens the console: the token of the link, exchanged for a cookie; or the token of a user. */

import type { Output } from '../../../package/client/operation_types.ts'
import { ApiError } from '../../../package/client/errors.ts'
import { api, asFailure } from './api.ts'
import { connection, hostLabel } from './hosting.ts'
import { currentPlace, knownOrg, setHome } from './location.ts'
import { apiFetch, Failure, failureOf } from './request.ts'

type Scope = Output<'getSession'>['scopes'][number]

/** The result of opening: the host that the console shows. */
export interface Session {
  label: string
}

/** What the token allows; null for a secret key, which allows everything. */
let scopes: ReadonlySet<Scope> | null = null

/** Whether the page may call operations that need this scope. What may not be done is not shown. */
export function may(scope: Scope): boolean {
  return scopes === null || scopes.has(scope)
}

/** Whether the page has a secret key behind it. */
export function hasKey(): boolean {
  return scopes === null
}

/**
 * Exchanges the token in the fragment for a cookie, or checks the cookie that is there. It first
 * removes the token from the address, so that it is in no bookmark and in no history. A hosted page
 * asks the API what its token allows.
 */
export async function openSession(): Promise<Session> {
  if (connection !== null) return await openHosted()
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1]
  if (token !== undefined) {
    history.replaceState(null, '', location.pathname + location.search)
  }
  const response = await apiFetch(
    token === undefined
      ? new Request('/session')
      : new Request('/session', { method: 'POST', body: token }),
  )
  if (!response.ok) throw await failureOf(response)
  // SAFETY: the server of the console sends this object.
  return await response.json() as Session
}

/** The code of the failure of an address without an organisation, if the token has several. */
export const whichOrganisation = 'which_organisation'

async function openHosted(): Promise<Session> {
  const asked = knownOrg(currentPlace())
  try {
    const session = await api.getSession()
    // The response names the organisation that was asked for. Only without one it is that of the token.
    if (asked === null) setHome(session.orgId)
    scopes = session.kind === 'key' ? null : new Set(session.scopes)
    connection?.keeper.expiresIn(session.expiresInSeconds)
    return { label: hostLabel ?? '' }
  } catch (error) {
    if (asked === null && error instanceof ApiError && error.field === 'X-Org-Id') {
      throw new Failure(
        error.status,
        whichOrganisation,
        'Your login belongs to several organisations',
        'Enter the one to open',
      )
    }
    throw asFailure(error)
  }
}

/** Reads again what the token allows, after it was renewed. */
export async function renewSession(): Promise<void> {
  await openHosted().catch(() => {
    // The next request says what is wrong.
  })
}
