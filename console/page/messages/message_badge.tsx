/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { Badge, type Tone } from '../parts/value.tsx'

export type Message = Output<'listMessages'>['data'][number]

const tones: Record<Message['status'], Tone> = {
  QUEUED: 'info',
  SENDING: 'info',
  SENT: 'info',
  DELIVERED: 'good',
  FAILED: 'bad',
  CANCELLED: 'quiet',
}

export const messageStatuses = Object.keys(tones)

/** The status of a message; that it was read is more than that it was delivered. */
export function MessageBadge({ message }: { message: Message }): JSX.Element {
  const { status, readAt } = message
  return (
    <Badge tone={tones[status]}>
      {status === 'DELIVERED' && readAt !== null ? 'read' : status.toLowerCase()}
    </Badge>
  )
}

/** What a message is: the template, or the form of a free one. */
export function contentOf({ templateCode, payloadJson }: Message): string {
  if (templateCode !== null) return templateCode
  const { type, text } = payloadJson
  if (typeof text === 'string') return `“${text.length > 80 ? `${text.slice(0, 80)}…` : text}”`
  return typeof type === 'string' ? type : 'free message'
}
