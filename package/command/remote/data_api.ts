import { messageOf } from '../../../functions/_shared/base/errors.ts'

/** The project that is checked. */
export interface Target {
  /** Without a slash at the end. */
  url: string
  /** A secret key, or the legacy key of service_role. */
  key: string
}

/** Why a call of the Data API has no result. */
export interface DataApiProblem {
  kind:
    | 'unreachable'
    | 'no-data-api'
    | 'refused'
    | 'unexposed'
    | 'not-loaded'
    | 'missing'
    | 'failed'
  /** The status of the response; null if there was none. */
  status: number | null
  code: string | null
  message: string
}

/** The result of a call, and the time between its start and its end by the clock of this machine. */
export type DataApiResult<Data> =
  | { ok: true; data: Data; startedAt: number; endedAt: number }
  | { ok: false; problem: DataApiProblem }

/** Calls a function of the schema outbox through the Data API. Never rejects. */
export async function callDataApi<Data>(
  { url, key }: Target,
  name: string,
  args: Record<string, unknown>,
  timeoutMs = 15_000,
): Promise<DataApiResult<Data>> {
  const startedAt = Date.now()
  let response: Response
  let text: string
  try {
    response = await fetch(`${url}/rest/v1/rpc/${name}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-profile': 'outbox',
        apikey: key,
        // A legacy key is a token. The gateway refuses a secret key in this header.
        ...key.startsWith('eyJ') ? { authorization: `Bearer ${key}` } : {},
      },
      body: JSON.stringify(args),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    text = await response.text()
  } catch (error) {
    return failed({ kind: 'unreachable', status: null, code: null, message: causeOf(error) })
  }
  const body = parseJson(text)
  if (response.ok && body !== undefined) {
    // SAFETY: the database returns what the SQL function documents.
    return { ok: true, data: body as Data, startedAt, endedAt: Date.now() }
  }
  return failed(problemOf(response.status, body))
}

function failed(problem: DataApiProblem): { ok: false; problem: DataApiProblem } {
  return { ok: false, problem }
}

/** Which of the known problems a response reports. */
export function problemOf(status: number, body: unknown): DataApiProblem {
  const members = typeof body === 'object' && body !== null ? body : {}
  const code = textOf(members, 'code')
  const message = textOf(members, 'message') ?? textOf(members, 'msg') ?? `status ${status}`
  return { kind: kindOf(status, code), status, code, message }
}

function kindOf(status: number, code: string | null): DataApiProblem['kind'] {
  if (code === 'PGRST106') return 'unexposed'
  if (code === 'PGRST202') return 'missing'
  if (code === 'PGRST002') return 'not-loaded'
  if (status === 401 || status === 403 || code === '42501') return 'refused'
  return code === null && (status === 404 || status < 300) ? 'no-data-api' : 'failed'
}

function textOf(members: object, name: string): string | null {
  const value = Object.entries(members).find(([key]) => key === name)?.[1]
  return typeof value === 'string' ? value : null
}

/** The parsed text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The reason of a failed fetch, which Node.js puts into `cause`. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'no response in time'
  return messageOf(error.cause instanceof Error ? error.cause : error)
}
