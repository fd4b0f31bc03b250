import { denoStep } from './deno_step.ts'
import type { Options } from './options.ts'
import type { Step } from './step.ts'

/** The files of the soak, the one that takes longest in the short form first: so the cores end together. */
export const soakFiles = [
  'tests/soak/bare_debian.soak.ts',
  'tests/soak/chaos.soak.ts',
  'tests/soak/incident.soak.ts',
  'tests/soak/days.soak.ts',
  'tests/soak/rabbitmq_cluster.soak.ts',
  'tests/soak/spread.soak.ts',
  'tests/soak/messages.soak.ts',
  'tests/property/engine.soak.ts',
  'tests/soak/memory.soak.ts',
  'tests/soak/brokers.soak.ts',
  'tests/soak/consumer.soak.ts',
  'tests/soak/kills.soak.ts',
  'tests/soak/servers.soak.ts',
  'tests/concurrency/crossing.soak.ts',
] as const

/** Those that wait most of their time in the short form: for an alert, for leases, for the six seconds of a person. */
const waits = ['tests/soak/incident.soak.ts', 'tests/soak/messages.soak.ts'] as const

/**
 * The steps of `deno task soak`: files named `*.soak.ts`, told by variables how long to go. Those of the short form
 * run side by side, each as a step with a line of its own in the table of times. The full form measures, so its
 * files run one after the other, with nothing beside them.
 */
export function soakSteps(
  { short, minutes, seed, seeds, scale }: Pick<
    Options,
    'short' | 'minutes' | 'seed' | 'seeds' | 'scale'
  >,
): readonly Step[] {
  const spec = {
    folder: 'tests',
    ending: '.soak.ts',
    parts: 1,
    env: {
      OUTHOOK_SOAK: short ? 'short' : 'full',
      ...minutes === null ? {} : { OUTHOOK_SOAK_MINUTES: String(minutes) },
      ...seed === null ? {} : { OUTHOOK_SOAK_SEED: String(seed) },
      ...seeds === null ? {} : { OUTHOOK_SOAK_SEEDS: String(seeds) },
      ...scale === null ? {} : { OUTHOOK_SOAK_SCALE: String(scale) },
    },
  }
  if (!short) return [denoStep({ ...spec, name: 'soak', shows: 'live' })]
  return soakFiles.map((file) =>
    denoStep({ ...spec, name: nameOf(file), only: [file], waits, shows: 'at the end' })
  )
}

/** `soak/chaos` of `tests/soak/chaos.soak.ts`. */
function nameOf(file: string): string {
  return file.replace(/^tests\//, '').replace(/\.soak\.ts$/, '')
}
