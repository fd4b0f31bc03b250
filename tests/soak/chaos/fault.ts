import type { Random } from '../../concurrency/_support/random.ts'
import type { World } from './world.ts'

/** One fault of a sequence. Its seed makes its own choices, so that it is the same without its neighbours. */
export interface Step {
  kind: string
  /** When it begins, in ms after the begin of its round. */
  at: number
  /** How long it lasts, if that can be chosen. */
  ms: number
  seed: number
}

/** What a fault has. `W` is what it acts on. */
export interface Act<W = World> {
  world: W
  random: Random
  ms: number
}

/** Does the damage, and undoes it before it resolves. */
export type Fault<W = World> = (act: Act<W>) => Promise<void>

/** The faults of one family, by kind. */
export type Family<W = World> = Readonly<Record<string, Fault<W>>>

/** Waits until all of them are over, also if one fails, and then throws an error of them. */
export async function allOver(acting: readonly Promise<unknown>[]): Promise<void> {
  const ends = await Promise.allSettled(acting)
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** Resolves after so long. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
