/** What the noisy organisation may do over and over: each loop is one kind of request. */
export const loopNames = [
  'big',
  'batch',
  'small',
  'schema',
  'type',
  'saga',
  'change',
  'create',
  'pause',
  'rotate',
  'retry-config',
  'test',
  'trial',
  'token',
  'replay',
  'backfill',
  'act',
  'dead-letters',
  'message',
  'template',
  'consent',
  'channel',
  'deliveries',
  'events',
  'search',
] as const

/** `spin` is no request: it only takes the processors. */
export type LoopName = typeof loopNames[number] | 'spin'

/** What the process of the noisy organisation needs to know. */
export type NoiseOptions = {
  /** The address of the API. */
  api: string
  /** The credentials of the organisation. */
  headers: Record<string, string>
  /** Filters of the greatest weight. */
  filters: string[]
  loops: readonly LoopName[]
}

/** Messages a second of its WhatsApp number: the most that a channel may have. */
export const MOST_MESSAGES = 1_000

/** The access token of this number. */
export const TOKEN = 'noise-token'

/** An event that has not arrived by then counts with this time. With a minute of events, less than a child may take. */
export const ARRIVAL_MS = 60_000

/** How the quiet organisation publishes; the response is `{ seen }`. */
export type QuietRequest = { rate: number; seconds: number }

/** A load on the processors: shares of one processor, and the length of a piece in Postgres. */
export type Load = { postgres: number; others: number; pieceMs: number }

/** What the control does next. */
export type LoadRequest = Load | 'stop'
