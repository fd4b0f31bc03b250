/** Every side of the bench: how it is run, and with which settings, the best of those tried. */

export interface SideSpec {
  name: string
  /** The file under sides/. */
  source: 'outhook' | 'graphile' | 'pg_boss' | 'bullmq' | 'naive' | 'undici' | 'fetch'
  runtime: 'deno' | 'node'
  /** Outhook by RPC, or how often Redis writes its file. */
  mode?: 'rpc' | 'always' | 'everysec'
  tuning: Record<string, number>
  /** A limit of the machine, not a queue: it keeps nothing. */
  isCeiling?: boolean
}

const graphile = { concurrency: 128, localQueue: 2_000 }
const bullmq = { concurrency: 200, workers: 2 }
const naive = { loops: 2, batch: 200 }

/** In the order in which they take turns. */
export const sides: readonly SideSpec[] = [
  { name: 'outhook direct', source: 'outhook', runtime: 'deno', tuning: {} },
  { name: 'outhook node', source: 'outhook', runtime: 'node', tuning: {} },
  { name: 'outhook rpc', source: 'outhook', runtime: 'deno', mode: 'rpc', tuning: { runs: 4 } },
  { name: 'graphile deno', source: 'graphile', runtime: 'deno', tuning: graphile },
  { name: 'graphile node', source: 'graphile', runtime: 'node', tuning: graphile },
  { name: 'pg-boss deno', source: 'pg_boss', runtime: 'deno', tuning: { loops: 4, batch: 200 } },
  { name: 'pg-boss node', source: 'pg_boss', runtime: 'node', tuning: { loops: 2, batch: 400 } },
  { name: 'bullmq deno', source: 'bullmq', runtime: 'deno', mode: 'always', tuning: bullmq },
  { name: 'bullmq node', source: 'bullmq', runtime: 'node', mode: 'always', tuning: bullmq },
  {
    name: 'bullmq deno everysec',
    source: 'bullmq',
    runtime: 'deno',
    mode: 'everysec',
    tuning: bullmq,
  },
  { name: 'naive deno', source: 'naive', runtime: 'deno', tuning: naive },
  { name: 'naive node', source: 'naive', runtime: 'node', tuning: naive },
  {
    name: 'undici deno',
    source: 'undici',
    runtime: 'deno',
    tuning: { concurrency: 64 },
    isCeiling: true,
  },
  {
    name: 'undici node',
    source: 'undici',
    runtime: 'node',
    tuning: { concurrency: 64 },
    isCeiling: true,
  },
  {
    name: 'fetch deno',
    source: 'fetch',
    runtime: 'deno',
    tuning: { concurrency: 32 },
    isCeiling: true,
  },
]

/** Outhook beside the fastest queue that keeps what it sends, under both runtimes. */
export const besides: readonly string[] = [
  ...['outhook direct', 'outhook node'],
  ...['graphile deno', 'graphile node'],
]

/** Those that a quick run measures, unless sides are named. */
export const quickSides: readonly string[] = [
  ...['outhook direct', 'outhook node', 'graphile node', 'pg-boss node', 'bullmq node'],
  'naive node',
]

/** Those of a quick run for questions that take long: one of each, under the faster runtime. */
export const quickPair: readonly string[] = ['outhook node', 'graphile node']

/** Of `chosen`, the named ones; where none of them was chosen, none. */
export function pickSides(chosen: SideSpec[], names: readonly string[]): SideSpec[] {
  return chosen.filter(({ name }) => names.includes(name))
}

/** The sides whose name contains one of the words; all without words. */
export function chooseSides(words: string[]): SideSpec[] {
  if (words.length === 0) return [...sides]
  return sides.filter(({ name }) => words.some((word) => name.includes(word)))
}
