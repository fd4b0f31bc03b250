import { problemResponse } from './problem.ts'

/**
 * Refuses requests that another web page or another host name sent. Binding to the loopback is not
 * enough: a page of any site can send requests to it, and by DNS rebinding even read the responses.
 *
 * @param port the port of the console
 * @returns the response that refuses, or null if the request may pass
 */
export function refuseForeign(request: Request, port: number): Response | null {
  const host = request.headers.get('host') ?? ''
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  if (!hosts.includes(host)) {
    return problemResponse(421, 'unknown_host', `The host ${JSON.stringify(host)} is not served`, {
      field: 'host',
      remedy: `Open http://${hosts[0]}`,
    })
  }
  const origin = request.headers.get('origin')
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  // A browser sends Origin with every request that is not a read.
  const foreignOrigin = origin === null ? !isRead : origin !== `http://${host}`
  const site = request.headers.get('sec-fetch-site')
  // Without a session, a navigation from elsewhere sees only the static page.
  const isNavigation = isRead && request.headers.get('sec-fetch-mode') === 'navigate'
  const foreignSite = site !== null && site !== 'same-origin' && site !== 'none' && !isNavigation
  if (!foreignOrigin && !foreignSite) return null
  return problemResponse(403, 'foreign_origin', 'The request does not come from the console', {
    field: 'origin',
    remedy: `Send it from a page of http://${host}`,
  })
}
