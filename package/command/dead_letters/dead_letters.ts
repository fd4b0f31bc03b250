import { printList } from '../api/list.ts'
import { withClient } from '../api/session.ts'
import { type DeliveriesOptions, queryOf } from '../deliveries/deliveries.ts'
import { exitCodes, type Terminal } from '../terminal.ts'

/** Lists dead letters, the newest first, and returns the exit code. */
export function deadLetters(options: DeliveriesOptions, terminal: Terminal): Promise<number> {
  return withClient('dead-letters', options, terminal, async (client) => {
    await printList(client.each.listDeadLetters({ query: queryOf(options) }), {
      ...options,
      columns: [
        ['failed', ({ failedAt }) => failedAt],
        ['status', ({ status }) => status],
        ['event type', ({ eventType }) => eventType],
        ['attempts', ({ attempt }) => attempt],
        ['id', ({ id }) => id],
        ['error', ({ error }) => error],
      ],
    }, terminal)
    return exitCodes.done
  })
}
