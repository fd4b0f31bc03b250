import type { ClientName, Round } from './run.ts'

/** A comparison of clients that send the same POSTs. */
export interface Scenario {
  name: string
  clients: readonly ClientName[]
  /** Which origins of the receiver; `gunicorn` is another one. */
  origins: 'plain' | 'plain, one' | 'tls' | 'tls, one' | 'http2' | 'gunicorn'
  path: string
  /** Without `posts`, which the options say. */
  round: Omit<Round, 'posts'>
  /** How many posts a round has, as a part of the option. */
  share: number
}

const four = ['ours', 'undici', 'fetch', 'node:http'] as const
const steady = { path: '/', share: 1 }

export const scenarios: readonly Scenario[] = [
  {
    ...steady,
    name: 'plain, one origin',
    clients: four,
    origins: 'plain, one',
    round: { slots: 64, targets: 1 },
  },
  {
    ...steady,
    name: 'plain, 1,000 origins',
    clients: four,
    origins: 'plain',
    round: { slots: 64, targets: 1_000 },
  },
  {
    ...steady,
    name: 'plain, 1,000 endpoints on one origin',
    clients: ['ours'],
    origins: 'plain, one',
    round: { slots: 64, targets: 1_000 },
  },
  {
    ...steady,
    name: 'TLS, one origin',
    clients: four,
    origins: 'tls, one',
    round: { slots: 64, targets: 1 },
  },
  {
    ...steady,
    name: 'TLS, 1,000 origins',
    clients: four,
    origins: 'tls',
    round: { slots: 64, targets: 1_000 },
  },
  {
    ...steady,
    name: 'TLS, 1,000 endpoints on one origin',
    clients: ['ours'],
    origins: 'tls, one',
    round: { slots: 64, targets: 1_000 },
  },
  ...[1, 64].map((slots): Scenario => ({
    name: `HTTP/2, ${slots} in flight, at once`,
    clients: ['ours', 'node:http2'],
    origins: 'http2',
    path: '/',
    round: { slots, targets: 1 },
    share: slots === 1 ? 0.25 : 1,
  })),
  ...[1, 64].map((slots): Scenario => ({
    name: `HTTP/2, ${slots} in flight, after 20 ms`,
    clients: ['ours', 'node:http2'],
    origins: 'http2',
    path: '/slow',
    round: { slots, targets: 1 },
    share: slots === 1 ? 0.01 : 0.5,
  })),
  {
    name: 'recycling',
    clients: four,
    origins: 'gunicorn',
    path: '/',
    round: { slots: 8, targets: 1, pauses: { ms: 40, longEach: 50, longMs: 1_000 } },
    share: 0.1,
  },
]
