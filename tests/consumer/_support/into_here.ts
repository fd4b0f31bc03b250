import { expect } from '@std/expect'
import { systemClock } from '../../../functions/_shared/base/clock.ts'
import { readKafkaAccess, readRabbitMqAccess } from '../../../consumer/access.ts'
import { consumeInto, type IntoOptions, type Totals } from '../../../consumer/into/into.ts'
import type { Bus } from './bus.ts'
import { startKafkaBus } from './kafka_bus.ts'
import { startRabbitMqBus } from './rabbitmq_bus.ts'
import { startTarget, type Target } from './targets.ts'

/** Both brokers, and the databases eu-1 and eu-2, into which this process consumes. */
export interface IntoHere extends AsyncDisposable {
  readonly targets: readonly [Target, Target]
  busOf(name: Bus['name']): Bus
  /** The lines of the log since consuming() began. */
  logged(): readonly string[]
  /** Consumes a hundred times as fast as the schedule says, while `during` runs. */
  consuming(
    bus: Bus,
    from: string,
    during: () => Promise<void>,
    more: Pick<IntoOptions, 'routes'> & Partial<IntoOptions>,
  ): Promise<Totals>
}

export async function startIntoHere(): Promise<IntoHere> {
  let logged: string[] = []
  const [first, second, kafka, rabbitMq] = await Promise.all([
    startTarget('eu-1'),
    startTarget('eu-2'),
    startKafkaBus((line) => logged.push(line)),
    startRabbitMqBus(),
  ])
  const targets = [first, second] as const
  return {
    targets,
    busOf: (name) => name === 'Kafka' ? kafka : rabbitMq,
    logged: () => logged,
    async consuming(bus, from, during, more): Promise<Totals> {
      const stop = new AbortController()
      logged = []
      const running = consumeInto({
        source: await sourceOf(bus, from),
        databases: targets.map(({ name, url }) => ({ name, url })),
        consumer: `into-${from}`,
        dlq: `${from}.dlq`,
        most: 20,
        timeoutMs: 5_000,
        clock: { ...systemClock, after: (ms, run) => systemClock.after(ms / 100, run) },
        log: (level, message, fields) => logged.push(JSON.stringify({ level, message, ...fields })),
        stop: stop.signal,
        ...more,
      })
      try {
        await during()
      } catch (cause) {
        throw new Error(`the log ends with\n${logged.slice(-20).join('\n')}`, { cause })
      } finally {
        stop.abort()
        await running
      }
      return await running
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const one of [kafka, rabbitMq, ...targets]) await one[Symbol.asyncDispose]()
    },
  }
}

async function sourceOf(bus: Bus, name: string): Promise<IntoOptions['source']> {
  return bus.name === 'Kafka'
    ? { kind: 'topic', name, access: await readKafkaAccess(bus.env, Deno.readTextFile) }
    : { kind: 'queue', name, access: await readRabbitMqAccess(bus.env, Deno.readTextFile) }
}

/** Throws unless a database has taken the events of each partition key in their order. */
export async function expectKeysInOrder(target: Target): Promise<void> {
  const lasts = new Map<string, number>()
  for (const { org, key, n } of await target.events()) {
    expect(n).toBeGreaterThan(lasts.get(`${org} ${key}`) ?? -1)
    lasts.set(`${org} ${key}`, n)
  }
}
