import { printList } from '../api/list.ts'
import { type SessionOptions, withClient } from '../api/session.ts'
import { exitCodes, type Terminal } from '../terminal.ts'

/** The options of `outhook endpoints`. */
export interface EndpointsOptions extends SessionOptions {
  limit: number
}

/** Lists the endpoints of an organisation, and returns the exit code. */
export function endpoints(options: EndpointsOptions, terminal: Terminal): Promise<number> {
  return withClient('endpoints', options, terminal, async (client) => {
    await printList(client.each.listEndpoints(), {
      ...options,
      columns: [
        ['id', ({ id }) => id],
        ['status', ({ status }) => status],
        ['kind', ({ kind }) => kind],
        ['url', ({ url }) => url],
        ['event types', ({ eventTypes }) => eventTypes],
      ],
    }, terminal)
    return exitCodes.done
  })
}
