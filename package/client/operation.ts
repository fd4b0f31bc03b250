/** One operation of the API. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With names in braces, such as `/api/v1/events/{eventId}`. */
  path: string
  /** Whether it accepts an Idempotency-Key. */
  keyed?: boolean
}
