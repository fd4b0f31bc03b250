import * as z from 'zod'
import { freePayload } from '../../messages/whatsapp/payload.ts'
import { formatProblem, templatePayload } from '../../messages/whatsapp/template_payload.ts'
import { freeContent } from './free.ts'
import type { OutgoingMessage } from '../message.ts'
import { templateContent } from './template.ts'

/** The body of a Graph API call, or the problem of the message's payload. */
export type GraphRequest = { ok: true; body: Record<string, unknown> } | {
  ok: false
  problem: string
}

/** Creates the body of `POST /<phone number id>/messages`. */
export function graphRequest(message: OutgoingMessage): GraphRequest {
  const { template } = message
  if (template === null) {
    const read = freePayload.safeParse(message.payload)
    if (!read.success) return refuse(read.error)
    const replyTo = read.data.type === 'reaction' ? undefined : read.data.replyTo
    return accept(message, freeContent(read.data), replyTo)
  }
  const read = templatePayload.safeParse(message.payload)
  if (!read.success) return refuse(read.error)
  const problem = formatProblem(read.data, template.parameter_format)
  if (problem !== null) return { ok: false, problem: `${problem.path}: ${problem.message}` }
  return accept(message, templateContent(template, read.data), read.data.replyTo)
}

function accept(
  { to, callback_data }: OutgoingMessage,
  content: Record<string, unknown>,
  replyTo: string | undefined,
): GraphRequest {
  const body = {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to,
    ...content,
    ...(replyTo === undefined ? {} : { context: { message_id: replyTo } }),
    biz_opaque_callback_data: callback_data,
  }
  return { ok: true, body }
}

/** Names the field and the rule, never the value, which is personal data. */
function refuse({ issues }: z.ZodError): GraphRequest {
  const [issue] = issues
  const problem = issue === undefined
    ? 'It is not valid'
    : `${issue.path.join('.')}: ${issue.message}`
  return { ok: false, problem }
}
