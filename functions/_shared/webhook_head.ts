/**
 * Whether a request has the headers of a signed webhook, in their form. Without them its body need not
 * be read: whatever is in it, it cannot be verified.
 */
export function hasWebhookHead(headers: Headers): boolean {
  const id = headers.get('webhook-id') ?? ''
  const signature = headers.get('webhook-signature') ?? ''
  return id !== '' && id.length <= 256 &&
    /^[0-9]{1,12}$/.test(headers.get('webhook-timestamp') ?? '') &&
    signature !== '' && signature.length <= 4096
}

/** Refuses a request with its body unread. */
export async function leaveBody(request: Request, refusal: Response): Promise<Response> {
  await request.body?.cancel().catch(() => {})
  return refusal
}
