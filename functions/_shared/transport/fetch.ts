import { ConnectTimeoutError } from '../connect/connector.ts'
import { lookupVetted, resolveBySystem } from '../connect/lookup.ts'
import type { Resolve } from '../connect/share_lookups.ts'
import { isAllowedHost } from '../connect/target.ts'
import { fault, faultOf } from './fault.ts'
import { LimitedBody } from './limited_body.ts'
import {
  type Exchange,
  isSuccess,
  type PostRequest,
  successBodyMs,
  type Transport,
} from './transport.ts'

const proxyMessage = 'OUTHOOK_TRANSPORT=fetch does not support a proxy: unset it'

/**
 * POSTs with Deno's fetch, for hosts where sockets do not work (`OUTHOOK_TRANSPORT=fetch`). It vets the
 * addresses first, but fetch resolves the name again, so a name that changes in between (DNS
 * rebinding) is not detected. `now` is ms on a monotonic clock.
 */
export function createFetchTransport(
  resolve: Resolve = resolveBySystem,
  now: () => number = () => performance.now(),
): Transport {
  async function post(request: PostRequest): Promise<Exchange> {
    // Never bypass the operator's proxy.
    if ((request.policy.rules.proxyUrl ?? '') !== '') return fault('connect', proxyMessage)
    const limit = new AbortController()
    const deadline = now() + request.timeoutMs
    let timer = setTimeout(() => limit.abort(), request.timeoutMs)
    try {
      const { hostname } = request.url
      if (isName(hostname)) await lookupInTime(hostname, request, resolve, limit.signal)
      else if (!isAllowedHost(hostname, request.policy)) return fault('blocked')
      // The timer may be late: see `onConnection` of attempt.ts.
      if (now() >= deadline) return faultOf(new ConnectTimeoutError())
      const response = await fetch(request.url, {
        method: request.method ?? 'POST',
        headers: pairs(request.headers),
        body: request.method === 'GET' ? null : new Uint8Array(request.body),
        redirect: 'manual',
        signal: limit.signal,
      })
      if (isSuccess(response.status) && deadline - now() > successBodyMs) {
        clearTimeout(timer)
        timer = setTimeout(() => limit.abort(), successBodyMs)
      }
      return await readResponse(response, request)
    } catch (error) {
      const isTimeout = limit.signal.aborted && !(error instanceof ConnectTimeoutError)
      return isTimeout ? fault('timeout') : faultOf(error)
    } finally {
      clearTimeout(timer)
    }
  }

  return { post, close: () => Promise.resolve() }
}

function isName(hostname: string): boolean {
  return !hostname.startsWith('[') && !/^[\d.]+$/.test(hostname)
}

/** The resolver cannot be cancelled, so its result is ignored after the deadline. */
async function lookupInTime(
  hostname: string,
  { policy, org, timeoutMs }: PostRequest,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<void> {
  const asker = { org, waitMs: timeoutMs / 2 }
  await new Promise<void>((done, fail) => {
    signal.addEventListener('abort', () => fail(new ConnectTimeoutError()), { once: true })
    lookupVetted(hostname, policy, resolve, asker).then(() => done(), fail)
  })
}

async function readResponse(response: Response, request: PostRequest): Promise<Exchange> {
  const { status } = response
  const kept = new LimitedBody(isSuccess(status) ? request.successBytes : request.failureBytes)
  let isBroken = false
  try {
    // Leaving the loop cancels the stream.
    for await (const chunk of response.body ?? []) if (!kept.push(chunk)) break
  } catch {
    isBroken = true
  }
  return {
    kind: 'response',
    status,
    retryAfter: response.headers.get('retry-after'),
    ...keptHeaders(response, request),
    body: kept.bytes(),
    cut: isBroken || kept.isCut,
  }
}

function keptHeaders(
  response: Response,
  { keepHeaders }: PostRequest,
): { headers?: Record<string, string> } {
  if (keepHeaders === undefined) return {}
  const headers: Record<string, string> = {}
  for (const name of keepHeaders) {
    const value = response.headers.get(name)
    if (value !== null) headers[name] = value
  }
  return { headers }
}

function pairs(list: string[]): [string, string][] {
  const all: [string, string][] = []
  for (let i = 0; i < list.length; i += 2) all.push([list[i] ?? '', list[i + 1] ?? ''])
  return all
}
