/** Problem details (RFC 9457), in the form of the API. */
export function problemResponse(
  status: number,
  code: string,
  detail: string,
  more: { field?: string; remedy?: string } = {},
): Response {
  const problem = { type: 'about:blank', title: detail, status, code, detail, ...more }
  return new Response(JSON.stringify({ ...problem, requestId: crypto.randomUUID() }), {
    status,
    headers: { 'content-type': 'application/problem+json' },
  })
}
