/**
 * Whether a request has the headers of a signed webhook. Without them the body cannot be verified, so
 * it is not read.
 */
export function hasWebhookHead(headers: Headers): boolean {
  const id = headers.get('webhook-id') ?? ''
  const signature = headers.get('webhook-signature') ?? ''
  return id !== '' && id.length <= 256 &&
    /^[0-9]{1,12}$/.test(headers.get('webhook-timestamp') ?? '') &&
    signature !== '' && signature.length <= 4096
}

/** Returns the refusal without reading the request's body. */
export async function leaveBody(request: Request, refusal: Response): Promise<Response> {
  await request.body?.cancel().catch(() => {})
  return refusal
}
