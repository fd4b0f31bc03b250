import * as z from 'zod'
import type { EventRow } from '../contract/contract.ts'

/** A message as it was when it was claimed; the module messages adds it to its event. */
const message = z.object({
  id: z.string(),
  /** Identifies message and attempt; WhatsApp returns it in each status. */
  callback_data: z.string(),
  /** The number in E.164 form. */
  to: z.string(),
  /** How long to wait before the send, so that messages of a channel are evenly spaced. */
  wait_ms: z.number().nonnegative(),
  /** Null: the payload is the whole message. */
  template: z.object({
    name: z.string(),
    language: z.string(),
    parameter_format: z.enum(['POSITIONAL', 'NAMED']),
  }).nullable(),
  payload: z.unknown(),
})

const eventPart = z.object({ message })

export type OutgoingMessage = z.infer<typeof message>

/** The message of an event, for the sender of a message channel; null if it has none, or an invalid one. */
export function messageOf(event: EventRow): OutgoingMessage | null {
  return eventPart.safeParse(event).data?.message ?? null
}
