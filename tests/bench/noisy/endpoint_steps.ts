/** What the noisy organisation does to its endpoints, over and over. */

import { type Calls, idOf, type Steps } from './calls.ts'

/** As many retries as a policy may have, all at once. */
const mostRetries = { strategy: 'schedule', delays: Array(50).fill(0), maxRetries: 50 }
/** Each failed attempt makes a dead letter. */
const noRetry = { strategy: 'fixed', baseDelay: 0, maxRetries: 0 }

export function endpointSteps(
  { call, ids }: Calls,
  filters: readonly string[],
): Steps<
  'change' | 'create' | 'pause' | 'rotate' | 'retry-config' | 'test' | 'trial' | 'token'
> {
  /** The one endpoint that the limit leaves, while it exists. */
  let extra: string | null = null
  let trials = 0
  let tokens = 0

  async function each(step: (id: string, n: number) => Promise<unknown>): Promise<void> {
    for (const [n, id] of (await ids('/endpoints?limit=50')).entries()) await step(id, n)
  }

  /** Creates this endpoint, and deletes it the next time. */
  async function create(): Promise<void> {
    if (extra === null) {
      extra = idOf(await call('POST', '/endpoints', { url: 'https://example.com' }))
    } else if ((await call('DELETE', `/endpoints/${extra}`)).isDone) {
      extra = null
    }
  }

  /** With an overlap, so that two secrets sign until the older one is made to expire. */
  async function rotate(id: string): Promise<void> {
    const { body } = await call('POST', `/endpoints/${id}/secret/rotate`, {})
    // SAFETY: the schema of the route.
    const old = (body as { secrets: { id: string }[] } | null)?.secrets[1]
    if (old !== undefined) await call('DELETE', `/endpoints/${id}/secrets/${old.id}`)
  }

  async function setRetries(id: string, n: number): Promise<void> {
    await call('POST', '/retry-config/preview', mostRetries)
    await call('DELETE', `/endpoints/${id}/retry-config`)
    await call('PUT', `/endpoints/${id}/retry-config`, n % 2 === 0 ? mostRetries : noRetry)
  }

  async function token(): Promise<void> {
    const id = idOf(await call('POST', '/portal-tokens', {}))
    if (id !== null) await call('DELETE', `/portal-tokens/${id}`)
    if (++tokens % 10 === 0) await call('DELETE', '/portal-tokens')
  }

  return {
    change: () =>
      each((id, n) => {
        const filter = filters[n % filters.length]
        return call('PATCH', `/endpoints/${id}`, { eventTypes: ['noise.*', `noise.n${n}`], filter })
      }),
    create,
    pause: () =>
      each(async (id) => {
        await call('POST', `/endpoints/${id}/pause`, {})
        await call('POST', `/endpoints/${id}/resume`)
      }),
    rotate: () => each(rotate),
    'retry-config': () => each(setRetries),
    test: () => each((id) => call('POST', `/endpoints/${id}/test?waitSeconds=1`)),
    trial: () =>
      call('POST', '/filter-trials', {
        filter: filters[trials++ % filters.length],
        eventTypes: ['noise.*'],
        limit: 100,
      }),
    token,
  }
}
