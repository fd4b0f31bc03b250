/** What opens the console: the token of the link, exchanged for a cookie. */

import { apiFetch, failureOf } from './request.ts'

/** The result of opening: the host that the console shows. */
export interface Session {
  label: string
}

/**
 * Exchanges the token in the fragment for a cookie, or checks the cookie that is there. It first
 * removes the token from the address, so that it is in no bookmark and in no history.
 */
export async function openSession(): Promise<Session> {
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
