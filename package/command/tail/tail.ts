import { setTimeout as wait } from 'node:timers/promises'
import type { Client, Item } from '../../client/mod.ts'
import { type SessionOptions, withClient } from '../api/session.ts'
import { type DeliveryFilter, queryOf } from '../deliveries/deliveries.ts'
import { exitCodes, type Terminal } from '../terminal.ts'

/** The options of `outhook tail`. */
export interface TailOptions extends SessionOptions, Pick<DeliveryFilter, 'endpoint' | 'type'> {
  /** How many minutes before now the first event may be published. */
  since: number
  /** Ends after so many attempts. */
  count?: number
}

type Delivery = Item<'listDeliveries'>
type Attempt = Item<'listAttempts'>

/** How often the list is read. */
const intervalMs = 1_000
/** The most deliveries that are followed, because the list is read again and again. */
const mostFollowed = 1_000

const limited =
  `There are more than ${mostFollowed} deliveries, and only the newest are followed: ` +
  'add --type or --endpoint'

/** Prints each attempt of deliveries whose events are published from now on, until Ctrl-C. */
export function tail(options: TailOptions, terminal: Terminal): Promise<number> {
  return withClient('tail', options, terminal, async (client) => {
    const from = new Date(Date.now() - options.since * 60_000).toISOString()
    const query = { ...queryOf(options), from }
    /** How many attempts of each delivery are printed, with its state then. */
    const seen = new Map<string, { state: string; printed: number }>()
    let left = options.count ?? Infinity
    let isLimited = false
    terminal.printError(`Attempts of events published since ${from}. Ctrl-C ends it`)
    while (left > 0) {
      const changed: Delivery[] = []
      const listed = new Set<string>()
      for await (const delivery of client.each.listDeliveries({ query })) {
        if (listed.size === mostFollowed) {
          if (!isLimited) terminal.printError(limited)
          isLimited = true
          break
        }
        listed.add(delivery.id)
        if (seen.get(delivery.id)?.state !== stateOf(delivery)) changed.push(delivery)
      }
      for (const id of seen.keys()) if (!listed.has(id)) seen.delete(id)
      for (const delivery of changed.reverse()) {
        const attempts = await attemptsOf(client, delivery)
        const printed = seen.get(delivery.id)?.printed ?? 0
        for (const attempt of attempts.slice(printed, printed + left)) {
          terminal.print(
            options.json ? JSON.stringify({ delivery, attempt }) : showAttempt(delivery, attempt),
          )
          left -= 1
        }
        seen.set(delivery.id, { state: stateOf(delivery), printed: attempts.length })
      }
      if (left > 0) await wait(intervalMs)
    }
    return exitCodes.done
  })
}

function stateOf({ status, attempt }: Delivery): string {
  return `${status} ${attempt}`
}

/** The attempts of a delivery, the oldest first. */
async function attemptsOf(client: Client, { id }: Delivery): Promise<Attempt[]> {
  const attempts: Attempt[] = []
  for await (const one of client.each.listAttempts({ path: { deliveryId: id } })) attempts.push(one)
  return attempts.sort((left, right) => left.at < right.at ? -1 : left.at > right.at ? 1 : 0)
}

/** `2026-01-01T00:00:00.000Z delivered 204 12 ms order.paid <delivery>`. */
export function showAttempt({ id, eventType }: Delivery, attempt: Attempt): string {
  const { at, outcome, status, error, durationMs, nextRetryAt } = attempt
  return [
    at,
    outcome,
    status ?? '',
    durationMs === null ? '' : `${durationMs} ms`,
    eventType,
    id,
    error ?? '',
    nextRetryAt === null ? '' : `next attempt ${nextRetryAt}`,
  ].filter((part) => part !== '').join(' ')
}
