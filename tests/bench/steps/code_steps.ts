/** The steps of a delivery in a worker, and in the database. */

import type { CodeStep } from './profile.ts'

/** In the order of a delivery. */
export const codeSteps: readonly CodeStep[] = [
  {
    step: 'fetch: ask the database, read its response',
    files: /_shared\/database\/|\/postgres@|\/postgres\//,
  },
  { step: 'sign: two HMACs', files: /_shared\/signing\/(sign|hmac|secret_bytes|ed25519)\.ts/ },
  { step: 'build: target, headers and body', files: /_shared\/(senders|signing|http)\// },
  { step: 'connect: check the address, open the socket', files: /_shared\/connect\// },
  {
    step: 'parse: read the response',
    files: /http1\/(response|head|body|framing)\.ts|transport\/(limited_body|decode)\.ts/,
  },
  { step: 'send: take a connection, write to the socket', files: /_shared\/(http1|transport)\// },
  { step: 'run: slots, leases, results', files: /functions\/deliver\// },
]

/** What no file of ours called: the event loop, and reading from sockets. */
export const otherCode = 'receive: the event loop and its sockets'

/** A function of the database, whose time with all that it calls is a step. */
export interface DatabaseStep {
  step: string
  functions: readonly string[]
}

/** None of these calls another one of them. */
export const databaseSteps: readonly DatabaseStep[] = [
  { step: 'publish', functions: ['publish_many'] },
  { step: 'route: find the subscribers, add deliveries', functions: ['read_unrouted', 'route'] },
  { step: 'lock: wait for the endpoints', functions: ['lock_gates'] },
  { step: 'complete: record the result', functions: ['read_results', 'record_results'] },
  { step: 'claim: choose endpoints, lease deliveries', functions: ['claim_for'] },
  { step: 'hand out: the response as JSON', functions: ['hand_out'] },
]
