/** What can be searched among events, and how it is written. */

export const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** What a correlation id and an idempotency key are made of. */
const id = /^[\x21-\x7e]{1,128}$/
export const eventType = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/

/** What the search can look for. */
export const searchKinds = [
  ['', 'Anything'],
  ['type', 'Event type'],
  ['id', 'Event id'],
  ['correlation', 'Correlation id'],
  ['idempotency', 'Idempotency key'],
  ['partition', 'Partition key'],
] as const

const names: Readonly<Record<string, string>> = {
  type: 'An event type',
  correlation: 'A correlation id',
  idempotency: 'An idempotency key',
}

/** What is wrong with a search text; null if it can be searched. */
export function searchProblem(kind: string, text: string): string | null {
  if (text === '') return null
  if (kind === 'partition') {
    return text.length <= 256 ? null : 'A partition key has up to 256 characters.'
  }
  if (kind === 'id' && !uuid.test(text)) {
    return 'An event id has the form 01a2203a-0510-79a1-bb91-f1e06b0cb7a6.'
  }
  if (kind === 'type' && !eventType.test(text)) {
    return 'An event type has letters, digits, _ and -, in parts with dots, such as order.paid.'
  }
  if (!id.test(text)) {
    return `${names[kind] ?? 'An id or a key'} has up to 128 characters of ASCII, without spaces.`
  }
  return null
}

/** So many events of an id or a key are found at most, the newest. */
export const mostFound = 100

/** Whether there may be more events than were found. `more` is also true for other lists. */
export function isCut({ events, more }: { events: readonly unknown[]; more: boolean }): boolean {
  return more && events.length >= mostFound
}
