import { findMembers } from '../../../functions/api/raw_json.ts'
import type { Client, Output } from '../../client/mod.ts'

/** An event with its payload as it was published, byte for byte. */
export type FullEvent = Omit<Output<'getEvent'>, 'payload' | 'deliveries'> & { body: string }

/** Reads events whose payloads JSON.parse would change, such as 1.10 and numbers above 2^53. */
export interface Payloads {
  /** For the client: it notes the texts of events. */
  fetch(request: Request): Promise<Response>
  read(client: Client, id: string): Promise<FullEvent>
}

/** Creates the reader; `send` is fetch() by default. */
export function notePayloads(send: (request: Request) => Promise<Response> = fetch): Payloads {
  const texts = new Map<string, string>()

  async function noting(request: Request): Promise<Response> {
    const response = await send(request)
    const [, id] = /\/events\/([0-9a-f-]{36})$/.exec(new URL(request.url).pathname) ?? []
    if (id !== undefined && response.ok) texts.set(id, await response.clone().text())
    return response
  }

  async function read(client: Client, id: string): Promise<FullEvent> {
    const { payload: _, deliveries: __, ...event } = await client.getEvent({
      path: { eventId: id },
    })
    const text = texts.get(id) ?? '{}'
    texts.delete(id)
    const span = findMembers(text).get('payload')
    return { ...event, body: span === undefined ? 'null' : text.slice(span.start, span.end) }
  }

  return { fetch: noting, read }
}
