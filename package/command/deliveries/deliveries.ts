import { printList } from '../api/list.ts'
import { type SessionOptions, withClient } from '../api/session.ts'
import { exitCodes, type Terminal } from '../terminal.ts'

/** What a delivery must have to be listed. */
export interface DeliveryFilter {
  status?: string
  endpoint?: string
  type?: string
}

/** The options of `outhook deliveries`. */
export interface DeliveriesOptions extends SessionOptions, DeliveryFilter {
  limit: number
}

/** The filter as parameters of the API, which refuses a value that it does not know. */
export function queryOf({ status, endpoint, type }: DeliveryFilter): Record<string, string> {
  return {
    ...status === undefined ? {} : { status },
    ...endpoint === undefined ? {} : { endpointId: endpoint },
    ...type === undefined ? {} : { eventType: type },
  }
}

/** Lists deliveries, the newest first, and returns the exit code. */
export function deliveries(options: DeliveriesOptions, terminal: Terminal): Promise<number> {
  return withClient('deliveries', options, terminal, async (client) => {
    await printList(client.each.listDeliveries({ query: queryOf(options) }), {
      ...options,
      columns: [
        ['created', ({ createdAt }) => createdAt],
        ['status', ({ status }) => status],
        ['attempt', ({ attempt }) => attempt],
        ['event type', ({ eventType }) => eventType],
        ['next attempt', ({ nextAttemptAt }) => nextAttemptAt],
        ['id', ({ id }) => id],
      ],
    }, terminal)
    return exitCodes.done
  })
}
