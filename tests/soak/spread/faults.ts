import { type Family, type Fault, pause } from '../chaos/fault.ts'
import { postgresFaults } from '../chaos/faults/postgres.ts'
import { workerFaults } from '../chaos/faults/processes.ts'
import type { Database, SpreadWorld } from './world.ts'

/** A fault of one of the databases, also of the source. */
function ofOne(family: Family<Database>): Family<SpreadWorld> {
  return Object.fromEntries(
    Object.entries(family).map(([kind, fault]): [string, Fault<SpreadWorld>] => [
      kind,
      async ({ world: { source, targets }, random, ms }) => {
        const all = [source, ...targets.values()]
        await fault({ world: all[random.int(all.length)] ?? source, random, ms })
      },
    ]),
  )
}

const { 'read only': _, 'connections exhausted': __, ...deaths } = postgresFaults
let brokerTurn: Promise<unknown> = Promise.resolve()

/** One at a time: each leaves RabbitMQ as it was. */
async function inBrokerTurn(act: () => Promise<void>): Promise<void> {
  const mine = brokerTurn.then(act)
  brokerTurn = mine.catch(() => {})
  await mine
}

/** Stops RabbitMQ and starts it again. */
function restartBroker(hard: boolean): Fault<SpreadWorld> {
  return ({ world: { rabbit }, ms }) =>
    inBrokerTurn(async () => {
      await rabbit.stop({ hard })
      await pause(Math.min(ms, 1_000))
      await rabbit.start()
    })
}

/** What happens to the databases, the workers, the consumers and RabbitMQ. */
export const spreadFaults: Family<SpreadWorld> = {
  ...ofOne(deaths),
  ...ofOne(workerFaults),

  'consumer killed': async ({ world: { consumers }, random, ms }) =>
    await consumers.replace(random.int(consumers.count), Math.min(ms, 2_000)),

  'consumer frozen': async ({ world: { consumers }, random, ms }) =>
    await consumers.freeze(random.int(consumers.count), ms),

  'broker cut': ({ world: { proxy } }) => Promise.resolve(proxy.drop()),

  'broker refused': ({ world: { proxy }, ms }) =>
    inBrokerTurn(async () => {
      proxy.down()
      await pause(ms)
      proxy.up()
    }),

  'broker killed': restartBroker(true),

  'broker restarted': restartBroker(false),
}
