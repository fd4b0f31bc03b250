/**
 * Whether a request has well-formed headers of a signed webhook. Without them the body cannot be
 * verified, so it need not be read.
 */
export function hasWebhookHead(headers: Headers): boolean {
  const id = headers.get('webhook-id') ?? ''
  const signature = headers.get('webhook-signature') ?? ''
  return id !== '' && id.length <= 256 &&
    /^[0-9]{1,12}$/.test(headers.get('webhook-timestamp') ?? '') &&
    signature !== '' && signature.length <= 4096
}

/** Refuses a request without reading its body. */
export async function leaveBody(request: Request, refusal: Response): Promise<Response> {
  await request.body?.cancel().catch(() => {})
  return refusal
}
