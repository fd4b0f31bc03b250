import * as z from 'zod'
import type { Endpoint } from '../../contract/contract.ts'

/** The number to send from; it is a member of its endpoint. */
const channel = z.object({
  graph_url: z.string(),
  graph_version: z.string(),
  phone_number_id: z.string(),
  /** The minimum time between two messages of this number. */
  spacing_ms: z.number().nonnegative(),
  access_token: z.string(),
})

const endpointPart = z.object({ channel })

/** The business number that sends a WhatsApp message. */
export type Channel = z.infer<typeof channel>

/** The channel of an endpoint; null if it has none, or an invalid one. */
export function channelOf(endpoint: Endpoint): Channel | null {
  return endpointPart.safeParse(endpoint).data?.channel ?? null
}
