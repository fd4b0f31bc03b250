import { problemResponse } from './problem.ts'
import { readBytes } from './read_bytes.ts'

/**
 * The text of a request's body of at most `max` bytes within `ms`; or the error response: 413 too large,
 * 408 too late, 400 incomplete.
 */
export async function readText(
  request: Request,
  max: number,
  ms = 10_000,
): Promise<string | Response> {
  const read = await readBytes(request, max, ms)
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
    case 'broken':
      return refusal(400, 'invalid_argument', 'Incomplete body', 'The body ended early')
  }
}

function refusal(status: number, code: string, title: string, detail: string): Response {
  return problemResponse({ status, code, title, detail })
}
