import type { ChannelModel } from 'amqplib'
import { type Clock, sleep } from '../../functions/_shared/base/clock.ts'
import { messageOf } from '../../functions/_shared/base/errors.ts'
import type { Log } from '../../functions/_shared/base/log.ts'

export type ReconnectOptions = {
  connect(): Promise<ChannelModel>
  /** The queue that the log names. */
  queue: string
  clock: Clock
  log: Log
  stop: AbortSignal
}

const redialMs = 2_000

/**
 * Calls `use` with a connection of its own, again whenever it ends, until `stop`. It logs an error of the broker or
 * of `use`, and connects again after two seconds.
 */
export async function whileConnected(
  { connect, queue, clock, log, stop }: ReconnectOptions,
  use: (connection: ChannelModel) => Promise<void>,
): Promise<void> {
  while (!stop.aborted) {
    try {
      const connection = await connect()
      try {
        await use(connection)
      } finally {
        await connection.close().catch(() => {})
      }
    } catch (error) {
      log('warn', 'rabbitmq unavailable', { topic: queue, error: messageOf(error) })
      await sleep(clock, redialMs, stop)
    }
  }
}
