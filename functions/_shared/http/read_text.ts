import type { BodyRoom } from './body_room.ts'
import { problemResponse } from './problem.ts'
import { readBytes } from './read_bytes.ts'

/**
 * The text of a request's body of at most `max` bytes within `ms`; or the error response: 413 too large,
 * 408 too late, 400 incomplete, 503 if other bodies fill `room`,
 * which is for callers whose signature is not verified yet.
 */
export async function readText(
  request: Request,
  max: number,
  { ms = 10_000, room = null }: { ms?: number; room?: BodyRoom | null } = {},
): Promise<string | Response> {
  const place = room?.enter('unknown') ?? null
  const read = await readBytes(request, max, ms, place)
  place?.leave()
  switch (read.kind) {
    case 'whole':
      return new TextDecoder().decode(read.body)
    case 'too_large':
      return refusal(413, 'too_large', 'Too large', `The body has more than ${max} bytes`)
    case 'late':
      return refusal(
        408,
        'request_timeout',
        'Too late',
        `The body did not arrive within ${ms / 1000} s`,
      )
    case 'crowded':
      return refusal(
        503,
        'unavailable',
        'Temporarily unavailable',
        'Too many bodies arrive at once',
      )
    case 'broken':
      return refusal(400, 'invalid_argument', 'Incomplete body', 'The body ended early')
  }
}

function refusal(status: number, code: string, title: string, detail: string): Response {
  return problemResponse({ status, code, title, detail })
}
