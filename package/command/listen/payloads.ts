import { findMembers } from '../../../functions/api/raw_json.ts'
import { type Client, OuthookError, type Output } from '../../client/mod.ts'

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
    const [, id] = /\/events\/([0-9a-f-]{36})$/i.exec(new URL(request.url).pathname) ?? []
    if (id !== undefined && response.ok) {
      texts.set(id.toLowerCase(), await response.clone().text())
    }
    return response
  }

  async function read(client: Client, id: string): Promise<FullEvent> {
    const { payload: _, deliveries: __, ...event } = await client.getEvent({
      path: { eventId: id },
    })
    const text = texts.get(id.toLowerCase())
    texts.delete(id.toLowerCase())
    const span = text === undefined ? undefined : findMembers(text).get('payload')
    // Another payload in its place would be signed like a real one.
    if (text === undefined || span === undefined) {
      throw new OuthookError(`The API responded without the payload of the event ${id}`)
    }
    return { ...event, body: text.slice(span.start, span.end) }
  }

  return { fetch: noting, read }
}
