import type { Costs, Load } from './model.ts'
import { firstLimit, needOf, priceOf, sizeFor, useOf } from './need.ts'
import { pricesAt, sizes } from './prices.ts'

function bytes(n: number): string {
  if (n >= 1e12) return `${(n / 1e12).toFixed(1)} TB`
  if (n >= 1e9) return `${(n / 1e9).toFixed(1)} GB`
  return n >= 1e6 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e3).toFixed(1)} kB`
}

function rate(n: number): string {
  if (n < 0.001) return 'less than 0.001'
  return n >= 10 ? n.toFixed(0) : n.toPrecision(2)
}

/** What a load needs, as lines of a name and a value. */
export function tellNeed(costs: Costs, load: Load): [name: string, value: string][] {
  const need = needOf(costs, load)
  const size = sizeFor(need)
  const largest = sizes.at(-1)
  const judged = size ?? largest
  const [limit, share] = judged === undefined ? ['', 0] : firstLimit(useOf(need, judged))
  return [
    [
      'At the peak',
      `${rate(need.eventsPerSecond)} events/s, ${rate(need.deliveriesPerSecond)} deliveries/s`,
    ],
    ['Postgres', `${rate(need.postgresCores)} cores`],
    [
      'Write-ahead log',
      `${bytes(need.walBytesPerSecond)}/s at the peak, ${bytes(need.walBytesPerDay)} a day`,
    ],
    ['Stored', bytes(need.storedBytes)],
    [
      'Workers',
      `${need.workers} (${rate(need.workerCores)} cores), or edge runs: ${need.runs} at a time`,
    ],
    ['Connections', String(need.connections)],
    ['Invocations', `${Math.round(need.invocationsPerMonth).toLocaleString('en')} a month`],
    ['Payloads sent', `${bytes(need.egressBytesPerMonth)} a month`],
    ['Size on Supabase', size?.name ?? `none: more than ${largest?.name}`],
    [
      'Price',
      size === null
        ? 'none: no size is enough'
        : `$${Math.round(priceOf(need, size))} a month (prices of ${pricesAt})`,
    ],
    ['First limit', `${limit}, of which ${Math.round(share * 100)} % are used`],
  ]
}
