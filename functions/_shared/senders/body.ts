import type { Endpoint, EventRow } from '../contracts.ts'

/** What is sent of an event: the same on every try. */
export function bodyOf({ payload }: Endpoint, { head, body }: EventRow): string {
  return payload === 'envelope' ? `${head}${body}}` : body
}
