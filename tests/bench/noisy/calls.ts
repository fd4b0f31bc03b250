/** The requests of the noisy organisation, and how often each route returned which status. */

import { pause } from '../engine/pause.ts'
import type { LoopName, NoiseOptions } from './options.ts'

/** The JSON of a response; null for a failure or an empty body. */
export type Answer = { isDone: boolean; status: number; body: unknown }

export type Calls = {
  /** Sends a request; status 0: no response. */
  call(method: string, path: string, body?: unknown): Promise<Answer>
  /** The ids of the items of a list, such as `/endpoints?limit=50`. */
  ids(path: string): Promise<string[]>
  /** Such as `{ "POST /events 202": 17 }`. */
  answers: Record<string, number>
}

/** One step of a loop: it is repeated at once. */
export type Steps<Name extends LoopName> = Record<Name, () => Promise<unknown>>

/** How long a loop waits after a 429. */
const TOO_MANY_MS = 100

export function createCalls({ api, headers }: Pick<NoiseOptions, 'api' | 'headers'>): Calls {
  const answers: Record<string, number> = {}

  async function call(method: string, path: string, body?: unknown): Promise<Answer> {
    const { status, text } = await send(method, path, body)
    const answer = `${method} ${routeOf(path)} ${status}`
    answers[answer] = (answers[answer] ?? 0) + 1
    // Its rate allows no more for now.
    if (status === 429) await pause(TOO_MANY_MS)
    const isDone = status >= 200 && status < 300
    return { isDone, status, body: isDone && text !== '' ? JSON.parse(text) : null }
  }

  async function send(
    method: string,
    path: string,
    body: unknown,
  ): Promise<{ status: number; text: string }> {
    try {
      const response = await fetch(`${api}${path}`, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        ...body === undefined ? {} : { body: JSON.stringify(body) },
      })
      return { status: response.status, text: await response.text() }
    } catch {
      return { status: 0, text: '' }
    }
  }

  async function ids(path: string): Promise<string[]> {
    const { body } = await call('GET', path)
    // SAFETY: the schema of each list of the API.
    const page = body as { data: { id: string }[] } | null
    return page?.data.map(({ id }) => id) ?? []
  }

  return { call, ids, answers }
}

/** The path with `{id}` for each part that has a digit: all ids have one, and no name of a route. */
export function routeOf(path: string): string {
  const [route = ''] = path.split('?')
  return route.split('/').map((part) => /\d/.test(part) ? '{id}' : part).join('/')
}

/** The id of what a request has created; null if it failed. */
export function idOf({ body }: Answer): string | null {
  // SAFETY: the schema of each route that creates something.
  return (body as { id: string } | null)?.id ?? null
}
