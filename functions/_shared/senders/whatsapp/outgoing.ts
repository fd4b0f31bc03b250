import { z } from 'zod'
import type { Endpoint, EventRow } from '../../contract/contract.ts'

/** The message as it was when it was claimed; it is a member of its event. */
const message = z.object({
  id: z.string(),
  /** Identifies message and attempt; Meta returns it in each status. */
  callback_data: z.string(),
  to: z.string(),
  /** How long to wait before the send, so that messages of a number are evenly spaced. */
  wait_ms: z.number().nonnegative(),
  template: z.object({
    name: z.string(),
    language: z.string(),
    parameter_format: z.enum(['POSITIONAL', 'NAMED']),
  }).nullable(),
  payload: z.unknown(),
})

/** The number to send from; it is a member of its endpoint. */
const channel = z.object({
  graph_url: z.string(),
  graph_version: z.string(),
  phone_number_id: z.string(),
  /** The minimum time between two messages of this number. */
  spacing_ms: z.number().nonnegative(),
  access_token: z.string(),
})

const eventPart = z.object({ message })
const endpointPart = z.object({ channel })

export type OutgoingMessage = z.infer<typeof message>
/** The business number that sends a WhatsApp message. */
export type Channel = z.infer<typeof channel>

/** The message of an event; null if it has none, or an invalid one. */
export function messageOf(event: EventRow): OutgoingMessage | null {
  return eventPart.safeParse(event).data?.message ?? null
}

/** The channel of an endpoint; null if it has none, or an invalid one. */
export function channelOf(endpoint: Endpoint): Channel | null {
  return endpointPart.safeParse(endpoint).data?.channel ?? null
}
