import { Buffer } from 'node:buffer'
import type { z } from 'zod'
import type { Received } from '../http/request.ts'
import type { GraphFault } from './errors.ts'
import { type SendBody, sendBody } from './shapes.ts'

type Read = { ok: true; body: SendBody } | { ok: false; fault: GraphFault }

/** The body of a send, or why WhatsApp refuses it. */
export function readBody(request: Received): Read {
  if (request.headers['content-type'] !== 'application/json') {
    return { ok: false, fault: { code: 100, details: 'The content type is not application/json' } }
  }
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(request.body).toString('utf8'))
  } catch {
    return { ok: false, fault: { code: 100, details: 'Invalid JSON' } }
  }
  const read = sendBody.safeParse(json)
  return read.success ? { ok: true, body: read.data } : { ok: false, fault: faultOf(read.error) }
}

function faultOf({ issues: [issue] }: z.ZodError): GraphFault {
  const details = issue === undefined ? '' : `${issue.path.join('.')}: ${issue.message}`
  if (issue?.code === 'unrecognized_keys') return { code: 100, details }
  const isMissing = issue?.code === 'invalid_type' && issue.message.includes('undefined')
  return { code: isMissing ? 131008 : 131009, details }
}

/** As Meta's, an id that holds the person's number for whoever decodes it. */
export function wamidOf(to: string): string {
  const random = crypto.getRandomValues(new Uint8Array(10))
  return `wamid.${Buffer.concat([Buffer.from(to.slice(1)), random]).toString('base64')}`
}

/** The response to a send that is taken. */
export function answerOf({ to, type }: SendBody, id: string): string {
  return JSON.stringify({
    messaging_product: 'whatsapp',
    contacts: [{ input: to, wa_id: to.slice(1) }],
    messages: [{ id, ...(type === 'template' ? { message_status: 'accepted' } : {}) }],
  })
}
