import { z } from 'zod'
import type { Endpoint, EventRow } from '../../contract/contract.ts'

/** The message as it is at the claim: a member of its event. */
const message = z.object({
  id: z.string(),
  /** Names message and attempt; Meta echoes it in each status. */
  callback_data: z.string(),
  to: z.string(),
  /** How long to wait before sending, so that the messages of a number leave evenly. */
  wait_ms: z.number().nonnegative(),
  template: z.object({
    name: z.string(),
    language: z.string(),
    parameter_format: z.enum(['POSITIONAL', 'NAMED']),
  }).nullable(),
  payload: z.unknown(),
})

/** Where to send, and as whom: a member of its endpoint. */
const channel = z.object({
  graph_url: z.string(),
  graph_version: z.string(),
  phone_number_id: z.string(),
  /** The least time between two messages of this number. */
  spacing_ms: z.number().nonnegative(),
  access_token: z.string(),
})

const eventPart = z.object({ message })
const endpointPart = z.object({ channel })

/** A WhatsApp message to send. */
export type OutgoingMessage = z.infer<typeof message>
/** The business number that sends a WhatsApp message. */
export type Channel = z.infer<typeof channel>

/** The message of an event; null if the event has none of this form. */
export function messageOf(event: EventRow): OutgoingMessage | null {
  return eventPart.safeParse(event).data?.message ?? null
}

/** The channel of an endpoint; null if the endpoint has none of this form. */
export function channelOf(endpoint: Endpoint): Channel | null {
  return endpointPart.safeParse(endpoint).data?.channel ?? null
}
