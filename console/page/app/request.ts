/** A request that failed, with what the page says about it. */
export class Failure extends Error {
  override name = 'Failure'
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly remedy: string | null,
  ) {
    super(message)
  }
}

/** `fetch` for paths of the console itself. */
export async function apiFetch(request: Request): Promise<Response> {
  return await answered(fetch(request))
}

/** The text of a response, whose connection may break before its end. */
export async function bodyOf(response: Response): Promise<string> {
  return await answered(response.text())
}

async function answered<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new Failure(
      0,
      'no_server',
      'The console does not respond',
      'Start it again with: npx -y deno@2.9.6 task console',
    )
  }
}

/** The failure that a response with an error describes. */
export async function failureOf(response: Response): Promise<Failure> {
  const problem: unknown = await response.json().catch(() => null)
  const text = (name: string): string | null => {
    if (typeof problem !== 'object' || problem === null) return null
    // SAFETY: any member of an object may be read; it is checked below.
    const value = (problem as Record<string, unknown>)[name]
    return typeof value === 'string' ? value : null
  }
  return new Failure(
    response.status,
    text('code') ?? 'unknown',
    text('detail') ?? `The response has the status ${response.status}`,
    text('remedy'),
  )
}
