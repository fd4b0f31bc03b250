import type { Problem } from '../../http/problem.ts'

/** What became of the updates of one callback. */
export type Counts = {
  stored: number
  /** Known already: WhatsApp repeats what it is not sure of. */
  duplicates: number
  applied: number
  /** Stored, and nothing changed by them. */
  skipped: number
  /** Stored until their message is known. */
  kept: number
}

/** What the callback address answers, whichever function it is an address of. */
export type CallbackAnswer =
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
  unavailable: [503, 'Not available now'],
}

/** A refusal with that code. */
export function refuse(code: CallbackCode, detail: string): CallbackAnswer {
  const [status, title] = titles[code]
  const problem = { status, code, title, detail }
  return code === 'unavailable'
    ? { kind: 'refused', problem, retryAfter: 1 }
    : { kind: 'refused', problem }
}

/** The answer as HTTP; `requestId` goes into a problem where there is one. */
export function toResponse(answer: CallbackAnswer, requestId?: string): Response {
  const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  switch (answer.kind) {
    case 'challenge':
      return new Response(answer.challenge, {
        headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' },
      })
    case 'stored':
      return Response.json(answer.counts, { headers })
    case 'refused': {
      const { problem, retryAfter } = answer
      const body = {
        type: 'about:blank',
        ...problem,
        ...requestId === undefined ? {} : { requestId },
      }
      return new Response(JSON.stringify(body), {
        status: problem.status,
        headers: {
          ...headers,
          'content-type': 'application/problem+json',
          ...retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
        },
      })
    }
  }
}
