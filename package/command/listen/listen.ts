import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { type SessionOptions, withClient } from '../api/session.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import { follow, handleOnce, ownTiming } from './follow.ts'
import { notePayloads } from './payloads.ts'
import { jsonReport, textReport } from './report.ts'
import { isTypePattern } from './types.ts'

/** The options of `outhook listen`. */
export interface ListenOptions extends SessionOptions {
  /** Where events are sent; without it they are only shown. */
  forward?: string
  type: string[]
  /** How many minutes before now the first event may be published. */
  since: number
  /** Ends after so many events. */
  count?: number
  /** Sends this event alone. */
  event?: string
  payload: 'envelope' | 'data'
}

/** As long as an endpoint has by default. */
const timeoutMs = 15_000

/**
 * Shows the events of a project and sends them to a receiver on this machine, until Ctrl-C. It reads the list
 * of events and stores nothing in the project, so nothing is left however it ends.
 */
export function listen(options: ListenOptions, terminal: Terminal): Promise<number> {
  const problem = problemOf(options)
  const given = process.env.OUTHOOK_LISTEN_SECRET?.trim() ?? ''
  const secret = secretOf(given)
  if (problem !== null || secret === null) {
    terminal.printError(problem ?? 'OUTHOOK_LISTEN_SECRET is not whsec_ with base64 after it')
    return Promise.resolve(exitCodes.usage)
  }
  const payloads = notePayloads()
  return withClient('listen', options, terminal, async (client) => {
    const { forward: url, payload, type: types } = options
    const report = options.json ? jsonReport(terminal) : textReport(terminal)
    const to = url === undefined ? null : { url, secret, payload, timeoutMs, now: Date.now }
    const session = { client, payloads, report, to, timing: ownTiming }
    const isNew = to !== null && given === ''
    const start = { secret: isNew ? secret : null, forward: url ?? null, types }
    if (options.event !== undefined) {
      const event = await payloads.read(client, options.event)
      report.ready(start)
      return await handleOnce(session, event) ? exitCodes.done : exitCodes.failed
    }
    await follow(session, options, () => report.ready(start))
    return exitCodes.done
  }, payloads.fetch)
}

function problemOf({ forward: url, type, event, since, count }: ListenOptions): string | null {
  if (event !== undefined && (type.length > 0 || since > 0 || count !== undefined)) {
    return '--event sends one event: it takes no --type, --since and --count'
  }
  const wrong = type.find((one) => !isTypePattern(one))
  if (wrong !== undefined) return `--type takes order.paid, order.* or *, not ${wrong}`
  if (url === undefined) return null
  const parsed = URL.canParse(url) ? new URL(url) : null
  return parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.username === ''
    ? null
    : '--forward takes a URL. Example: --forward http://127.0.0.1:3000/webhooks'
}

/** The secret of the variable, or a new one; null if the variable has something else. */
function secretOf(given: string): string | null {
  if (given === '') {
    return `whsec_${randomBytes(32).toString('base64')}`
  }
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(given) ?? []
  if (encoded === undefined || Buffer.from(encoded, 'base64').length < 24) return null
  return given
}
