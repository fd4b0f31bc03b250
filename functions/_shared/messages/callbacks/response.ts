import type { Problem } from '../../http/problem.ts'

/** The counts of one callback's updates. */
export type Counts = {
  stored: number
  /** Repeated by WhatsApp and stored already. */
  duplicates: number
  applied: number
  /** Stored without effect. */
  skipped: number
  /** Stored until their message is known. */
  kept: number
}

/** The result of a request to a callback address. */
export type CallbackResult =
  | { kind: 'challenge'; challenge: string }
  | { kind: 'stored'; counts: Counts }
  | { kind: 'refused'; problem: CallbackProblem; retryAfter?: number }

/** Codes of the API's list. */
export type CallbackCode =
  | 'invalid_argument'
  | 'unauthenticated'
  | 'forbidden'
  | 'request_timeout'
  | 'too_large'
  | 'module_missing'
  | 'not_configured'
  | 'unavailable'

export type CallbackProblem = Problem & { code: CallbackCode }

const titles: Record<CallbackCode, [status: number, title: string]> = {
  invalid_argument: [400, 'Invalid argument'],
  unauthenticated: [401, 'Not authenticated'],
  forbidden: [403, 'Not allowed'],
  request_timeout: [408, 'The request took too long'],
  too_large: [413, 'Too large'],
  module_missing: [501, 'Module not installed'],
  not_configured: [503, 'Not configured'],
  unavailable: [503, 'Temporarily unavailable'],
}

export function refuse(code: CallbackCode, detail: string): CallbackResult {
  const [status, title] = titles[code]
  const problem = { status, code, title, detail }
  return code === 'unavailable'
    ? { kind: 'refused', problem, retryAfter: 1 }
    : { kind: 'refused', problem }
}

/** The HTTP response; problem details have `requestId` if it is present. */
export function toResponse(result: CallbackResult, requestId?: string): Response {
  switch (result.kind) {
    case 'challenge':
      return new Response(result.challenge, {
        headers: { 'content-type': 'text/plain; charset=utf-8' },
      })
    case 'stored':
      return Response.json(result.counts)
    case 'refused': {
      const { problem, retryAfter } = result
      const body = {
        type: 'about:blank',
        ...problem,
        ...requestId === undefined ? {} : { requestId },
      }
      return new Response(JSON.stringify(body), {
        status: problem.status,
        headers: {
          'content-type': 'application/problem+json',
          ...retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
        },
      })
    }
  }
}
