import { oneLine } from '../api/table.ts'
import type { Terminal } from '../terminal.ts'
import type { Forwarded } from './forward.ts'
import type { FullEvent } from './payloads.ts'

/** What `outhook listen` says, as lines for a person or as JSON. */
export interface Report {
  /** `secret`: null if nothing is sent, or the user has set it. */
  ready(start: { secret: string | null; forward: string | null; types: readonly string[] }): void
  event(event: FullEvent, forwarded: Forwarded | null): void
  /** The API or the receiver does not respond. Said once, until it responds again. */
  down(what: 'api' | 'receiver', reason: string): void
  up(what: 'api' | 'receiver'): void
  /** Events that are left out because there were too many. */
  gap(): void
  /** An event that is due later, and is kept until then. */
  later(id: string, type: string, dueAt: string): void
}

/** The most of a payload or of a response that a line shows. */
const mostShown = 300

const names = { api: 'The API', receiver: 'The receiver' } as const

/** A report with one JSON object for each line. */
export function jsonReport({ print }: Terminal): Report {
  const say = (kind: string, more: object): void => print(JSON.stringify({ kind, ...more }))
  const down = new Set<string>()
  return {
    ready: (start) => say('ready', start),
    event({ body, routing: _, ...event }, forwarded): void {
      say('event', { event: { ...event, payload: JSON.parse(body) }, forwarded })
    },
    down(what, reason): void {
      if (!down.has(what)) say('down', { what, reason })
      down.add(what)
    },
    up(what): void {
      if (down.delete(what)) say('up', { what })
    },
    gap: () => say('gap', {}),
    later: (id, eventType, dueAt) => say('later', { id, eventType, dueAt }),
  }
}

/** A report for a person: events on standard output, everything else on standard error. */
export function textReport({ print, printError }: Terminal): Report {
  const down = new Set<string>()
  return {
    ready({ secret, forward, types }): void {
      const selected = types.length === 0 ? 'all types' : types.join(', ')
      printError(`Listening to events of ${selected}. Ctrl-C ends it`)
      if (forward === null) return
      printError(`Forwarding to ${forward}`)
      printError(
        secret === null
          ? 'The receiver verifies with the secret of OUTHOOK_LISTEN_SECRET'
          : `The receiver verifies with this secret: ${secret}`,
      )
    },
    event(event, forwarded): void {
      const { createdAt, type, id, body } = event
      print(`${createdAt} ${type} ${id} ${oneLine(body, mostShown)}`)
      if (forwarded !== null) print(`  ${showForwarded(forwarded)}`)
    },
    down(what, reason): void {
      if (!down.has(what)) {
        printError(`${names[what]} does not respond (${reason}). Trying again`)
      }
      down.add(what)
    },
    up(what): void {
      if (down.delete(what)) printError(`${names[what]} responds again`)
    },
    gap: () =>
      printError('More than 2,000 events are new: the older ones are left out. Add --type'),
    later: (id, type, dueAt) => printError(`${type} ${id} is due at ${dueAt}`),
  }
}

/** `204 in 12 ms`, with the first part of the body. */
function showForwarded(forwarded: Forwarded): string {
  if (forwarded.kind === 'unreachable') return `not sent: ${forwarded.error}`
  const { durationMs } = forwarded
  if (forwarded.kind === 'failed') return `failed after ${durationMs} ms: ${forwarded.error}`
  const body = oneLine(forwarded.body, mostShown).trim()
  return `${forwarded.status} in ${durationMs} ms${body === '' ? '' : `: ${body}`}`
}
