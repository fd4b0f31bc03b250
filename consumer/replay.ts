/** `deno task dlq:replay`: publishes dead letters to their original topic or queue again. */

import { messageOf } from '../functions/_shared/base/errors.ts'
import { createLog } from '../functions/_shared/base/log.ts'
import { runCommand, type Values } from '../supabase/local/command.ts'
import { SetupError } from '../supabase/local/errors.ts'
import { print } from '../supabase/local/print.ts'
import { readDatabaseUrl, readKafkaAccess, readRabbitMqAccess } from './access.ts'
import { readNumber, readSource } from './options.ts'
import { openRecovery, withoutDatabase } from './recovery.ts'
import type { Replayed } from './replayed.ts'
import { stopSignal } from './stop.ts'

const flags = {
  topic: { type: 'string' },
  queue: { type: 'string' },
  exchange: { type: 'string', default: '' },
  limit: { type: 'string' },
} as const

const help =
  `Publish the dead letters of a topic or a queue to their original_topic again, with their
key, headers and ids: those that exist when it starts.

  npx -y deno@2.9.6 task dlq:replay --topic orders.dlq [--limit 100]
  npx -y deno@2.9.6 task dlq:replay --queue orders.dlq [--limit 100]

  --topic <name>     a Kafka topic of dead letters; replayed ones are recorded as the offsets of
                     the group <name>.replay
  --queue <name>     or a RabbitMQ queue of them; replayed ones are removed from it
  --exchange <name>  RabbitMQ: publish to this exchange with original_topic as the routing key,
                     instead of to the queue of that name
  --limit <n>        the most dead letters; default all
  --help             show this

Environment variables configure the broker: see deno task consume --help. OUTHOOK_DB_URL is the
database with the dead letters of endpoints: what was replayed or discarded there is not published
again, and what is published is recorded there. The exit code is 1 if some messages are skipped:
they are not dead letters, the broker refuses them, or their endpoint publishes elsewhere now.`

async function run(values: Values<typeof flags>): Promise<number> {
  const source = readSource(values)
  if (typeof source === 'string') throw new SetupError(`${source}; --help shows more`)
  const limit = readNumber(values.limit, Infinity, 1, 999_999_999)
  if (limit === null) throw new SetupError('--limit must be a number from 1')
  const { replayed, skipped, known } = await replay(source, values.exchange, limit)
  print(
    `${replayed} replayed, ${skipped} skipped${known === 0 ? '' : `, ${known} recovered before`}`,
  )
  return skipped === 0 ? 0 : 1
}

async function replay(
  source: { kind: 'topic' | 'queue'; name: string },
  exchange: string,
  limit: number,
): Promise<Replayed> {
  const env = Deno.env.toObject()
  const log = createLog({ debug: env.OUTHOOK_DEBUG === '1' })
  const recovery = env.OUTHOOK_DB_URL === undefined
    ? withoutDatabase(log)
    : openRecovery(readDatabaseUrl(env))
  const more = { dlq: source.name, limit, recovery, log, stop: stopSignal() }
  try {
    if (source.kind === 'topic') {
      const { connectKafka } = await import('./kafka/connect.ts')
      const { replayTopic } = await import('./kafka/replay.ts')
      const kafka = connectKafka(await readKafkaAccess(env, Deno.readTextFile), log)
      return await replayTopic({ kafka, ...more })
    }
    const { connectRabbitMq } = await import('./rabbitmq/connect.ts')
    const { replayQueue } = await import('./rabbitmq/replay.ts')
    const connection = await connectRabbitMq(await readRabbitMqAccess(env, Deno.readTextFile))
    try {
      return await replayQueue({ connection, exchange, ...more })
    } finally {
      await connection.close().catch(() => {})
    }
  } catch (cause) {
    throw new SetupError(`Cannot replay ${source.name}: ${messageOf(cause)}`, { cause })
  } finally {
    await recovery.close()
  }
}

export const main = (): Promise<never> => runCommand({ help, flags, run })

if (import.meta.main) await main()
