import type { IntoFlags } from '../../../package/consume/into.ts'
import type { Bus } from './bus.ts'
import { type ConsumerProcess, startSource } from './consumer_process.ts'
import type { Target } from './targets.ts'

/** Starts `outhook consume` from its sources, with the connection strings of all `targets`. */
export function startInto(
  flags: Partial<IntoFlags>,
  bus: Pick<Bus, 'env'>,
  targets: readonly Pick<Target, 'name' | 'url'>[],
): ConsumerProcess {
  const urls = targets.map(({ name, url }) => [
    `OUTHOOK_INTO_${name.toUpperCase().replaceAll('-', '_')}`,
    url,
  ])
  return startSource(
    'tests/consumer/_support/into_process.ts',
    [JSON.stringify({ consumer: 'into', json: true, ...flags })],
    { ...bus.env, ...Object.fromEntries(urls) },
  )
}
