/** The event number `n` that every side delivers: the same envelope, 400 bytes on the wire. */

export interface BenchEvent {
  id: string
  type: string
  /** Which of the receiver's endpoints it goes to. */
  endpoint: number
  /** What Outhook is given: it puts its envelope around. */
  data: string
  /** The body as it is sent. */
  body: string
}

export const BODY_BYTES = 400
const CREATED_AT = '2026-01-01T00:00:00.000Z'

/** The type that endpoint `index` subscribes to. */
export function typeOf(index: number): string {
  return `bench.e${String(index).padStart(5, '0')}`
}

/** The type that every endpoint subscribes to when events fan out, as long as the others. */
export const FAN_TYPE = 'bench.fan000'

/** An id as long as ours. */
function idOf(n: number): string {
  return `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`
}

function envelope(id: string, type: string, data: string): string {
  return `{"id":"${id}","eventType":"${type}","createdAt":"${CREATED_AT}",` +
    `"correlationId":"${id}","data":${data}}`
}

const PAD = 'x'.repeat(
  BODY_BYTES - envelope(idOf(0), typeOf(0), '{"pad":"","n":"00000000"}').length,
)

/** Event `n` of a bench with so many endpoints; the number stands last, where it is cheap to read. */
export function eventOf(n: number, endpoints: number): BenchEvent {
  return make(n, n % endpoints, typeOf(n % endpoints))
}

/** Event `n` for every endpoint: one and the same, or for a side without subscriptions one for each. */
export function fanOut(n: number, endpoints: number): BenchEvent[] {
  return Array.from({ length: endpoints }, (_, endpoint) => make(n, endpoint, FAN_TYPE))
}

function make(n: number, endpoint: number, type: string): BenchEvent {
  const id = idOf(n)
  const data = `{"pad":"${PAD}","n":"${String(n).padStart(8, '0')}"}`
  return { id, type, endpoint, data, body: envelope(id, type, data) }
}
