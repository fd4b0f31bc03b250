import { createHmac } from 'node:crypto'
import type { Taken } from './graph.ts'

/** Where callbacks of an app go, and what signs them. */
export type CallbackTarget = { url: string; secret: string; waba: string }

/** What becomes of a message, in WhatsApp's words. */
export type Status = 'sent' | 'delivered' | 'read' | 'played' | 'failed'

/** The answer to a callback; `body` is what its JSON says. */
export type CallbackResult = { status: number; body: Record<string, unknown> }

/** How a callback differs from a genuine one. */
export type Otherwise = { signature?: string | null; headers?: Record<string, string> }

/** The status of a message; `over` are more members, or other ones. */
export function statusOf(
  { wamid, body }: Taken,
  status: Status,
  over: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    id: wamid,
    status,
    timestamp: String(Math.floor(Date.now() / 1000)),
    recipient_id: body.to.slice(1),
    ...body.biz_opaque_callback_data === undefined
      ? {}
      : { biz_opaque_callback_data: body.biz_opaque_callback_data },
    ...status === 'sent' || status === 'delivered'
      ? { pricing: { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' } }
      : {},
    ...over,
  }
}

/** A change of the field `messages` of a number. */
export function changeOf(number: string, value: Record<string, unknown>): unknown {
  const metadata = { display_phone_number: '12025550100', phone_number_id: number }
  return { field: 'messages', value: { messaging_product: 'whatsapp', metadata, ...value } }
}

/** A callback's body with these changes in one entry. */
export function bodyOf(waba: string, changes: unknown[], time?: number): string {
  return JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: waba, ...time === undefined ? {} : { time }, changes }],
  })
}

/** Posts a body as WhatsApp does, with a valid signature unless `signature` is given. */
export async function postCallback(
  { url, secret }: Pick<CallbackTarget, 'url' | 'secret'>,
  body: string,
  { signature, headers = {} }: Otherwise = {},
): Promise<CallbackResult> {
  const digest = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const given = signature === undefined ? digest : signature
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...given === null ? {} : { 'x-hub-signature-256': given },
      ...headers,
    },
    body,
  })
  return { status: response.status, body: await response.json() }
}
