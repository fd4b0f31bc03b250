/** What a load costs, as sums of measured costs: tests/bench/capacity.ts measures them. */

/** A load. */
export interface Load {
  eventsPerDay: number
  /** Deliveries of an event. */
  fanOut: number
  /** KiB of a payload. */
  payloadKib: number
  /** The share of deliveries whose first attempt fails. */
  failRate: number
}

/** What is measured of each thing: microseconds of CPU and bytes. */
export interface Cost {
  /** CPU of Postgres. */
  postgresUs: number
  /** CPU of the worker. */
  workerUs: number
  walBytes: number
  /** Of the tables of events and attempts, with their indexes. */
  storedBytes: number
}

/** The costs of which those of a load are the sum. */
export interface Costs {
  event: Cost
  eventKib: Cost
  delivery: Cost
  deliveryKib: Cost
  /** One failed attempt and its retry. */
  failure: Cost
}

const names = ['postgresUs', 'workerUs', 'walBytes', 'storedBytes'] as const

function make(value: (name: typeof names[number]) => number): Cost {
  return {
    postgresUs: value('postgresUs'),
    workerUs: value('workerUs'),
    walBytes: value('walBytes'),
    storedBytes: value('storedBytes'),
  }
}

/** What one event costs with all of its deliveries. */
export function costOfEvent(
  costs: Costs,
  { fanOut, payloadKib, failRate }: Pick<Load, 'fanOut' | 'payloadKib' | 'failRate'>,
): Cost {
  return make((name) =>
    costs.event[name] + costs.eventKib[name] * payloadKib +
    fanOut * (costs.delivery[name] + costs.deliveryKib[name] * payloadKib +
        failRate * costs.failure[name])
  )
}

/** The costs of one event at five loads, from which all others follow. */
export interface Calibration {
  /** One and ten deliveries of a small payload, then of a large one. */
  small: Cost
  smallToTen: Cost
  large: Cost
  largeToTen: Cost
  /** One delivery of a small payload, of which so many fail first. */
  failing: Cost
  smallKib: number
  largeKib: number
  failRate: number
}

/** Solves the five equations. A cost that the noise makes negative is 0. */
export function fitCosts(measured: Calibration): Costs {
  const { small, smallToTen, large, largeToTen, failing, smallKib, largeKib } = measured
  const atLeast0 = (value: number): number => Math.max(0, value)
  const deliveryAt = (one: Cost, ten: Cost): Cost => make((name) => (ten[name] - one[name]) / 9)
  const [bySmall, byLarge] = [deliveryAt(small, smallToTen), deliveryAt(large, largeToTen)]
  const perKib = (few: Cost, many: Cost): Cost =>
    make((name) => atLeast0((many[name] - few[name]) / (largeKib - smallKib)))
  const less = (one: Cost, other: Cost): Cost => make((name) => one[name] - other[name])
  const [eventSmall, eventLarge] = [less(small, bySmall), less(large, byLarge)]
  const deliveryKib = perKib(bySmall, byLarge)
  const eventKib = perKib(eventSmall, eventLarge)
  const without = (cost: Cost, kib: Cost): Cost =>
    make((name) => atLeast0(cost[name] - kib[name] * smallKib))
  return {
    event: without(eventSmall, eventKib),
    eventKib,
    delivery: without(bySmall, deliveryKib),
    deliveryKib,
    failure: make((name) => atLeast0((failing[name] - small[name]) / measured.failRate)),
  }
}
