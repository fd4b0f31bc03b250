import { type LoopName, loopNames } from './options.ts'

/** How a receiver responds: at once, with 500, or after 20 s. */
export type Response = 'ok' | 'fail' | 'hang'

/** One kind of noise, or all of them together. */
export type Part = {
  /** The name of the measurement. */
  name: string
  title: string
  loops: readonly LoopName[]
  /** Of the endpoints in turn; empty: the organisation has no endpoints. */
  responses: readonly Response[]
  /** How many endpoints of each four have filters. */
  filtered: number
  /** At most this many endpoints; null: as many as the size says. */
  most: number | null
}

export const parts: readonly Part[] = [
  {
    name: 'noisy',
    title: 'From commit to arrival beside an organisation that does its worst',
    // All loops share one rate, so that what is worst for others has several.
    loops: ['big', 'big', 'big', 'batch', ...loopNames],
    responses: ['ok', 'fail', 'hang'],
    filtered: 2,
    most: null,
  },
  {
    name: 'noisy-filters',
    title: 'Filters alone: large events and filters of the greatest weight, without deliveries',
    loops: ['big', 'big'],
    responses: ['ok'],
    filtered: 4,
    most: null,
  },
  {
    name: 'noisy-fan-out',
    title: 'Fan-out alone: small events for all endpoints',
    loops: ['batch', 'small'],
    responses: ['ok'],
    filtered: 0,
    most: null,
  },
  {
    name: 'noisy-bodies',
    title: 'Large bodies alone: large events for a few endpoints',
    loops: ['big', 'big'],
    responses: ['ok'],
    filtered: 0,
    most: 5,
  },
  {
    name: 'noisy-receivers',
    title: 'Slow receivers alone: small events for endpoints that hang or fail',
    loops: ['small', 'small'],
    responses: ['hang', 'hang', 'fail'],
    filtered: 0,
    most: null,
  },
  {
    name: 'noisy-jobs',
    title: 'Retries, replays, backfills and dead letters alone, of small events',
    loops: ['batch', 'retry-config', 'replay', 'backfill', 'act', 'dead-letters', 'test'],
    responses: ['ok', 'fail'],
    filtered: 0,
    most: 50,
  },
  {
    name: 'noisy-messages',
    title: 'Messages and sagas alone, with templates and consents',
    loops: ['message', 'message', 'template', 'consent', 'channel', 'saga'],
    responses: ['ok'],
    filtered: 0,
    most: 5,
  },
  {
    name: 'noisy-api',
    title: 'The API alone: changes, schemas, trials and lists, without events',
    loops: [
      'schema',
      'type',
      'change',
      'create',
      'pause',
      'rotate',
      'trial',
      'token',
      'deliveries',
      'events',
      'search',
    ],
    responses: ['ok'],
    filtered: 0,
    most: 50,
  },
  {
    name: 'noisy-spin',
    title: 'The bound: a bare loop on each processor instead of an organisation',
    loops: ['spin'],
    responses: [],
    filtered: 0,
    most: 0,
  },
]
