/** Problem details (RFC 9457); `code` is stable, title and detail are for people. */
export type Problem = {
  status: number
  code: string
  title: string
  detail: string
  /** The database that a kick came from. */
  database?: string
}

/** The response for a problem. */
export function problemResponse(problem: Problem): Response {
  return new Response(JSON.stringify({ type: 'about:blank', ...problem }), {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json' },
  })
}
