/** What a measurement of the engine is, and what it finds. */

import type { Column, Row } from '../questions/_question.ts'

/** The size that counts, or one that shows within a minute that everything works. */
export type Size = 'full' | 'small'

/** A figure for which there is a target. */
export interface Target {
  what: string
  value: number
  unit: string
  atMost: number
}

export interface Finding {
  /** How it was measured, in a sentence. */
  note: string
  columns: Column[]
  rows: Row[]
  targets: Target[]
}

export interface Measurement {
  name: string
  title: string
  /** About how long it takes in full. */
  minutes: number
  /**
   * Throws when it could not measure, or when what it saw cannot be right. `loop`: the words of `--loop`, which
   * only the measurement of the noisy neighbour's loops reads.
   */
  run(
    size: Size,
    say: (line: string) => void,
    choice: { loop: readonly string[] },
  ): Promise<Finding>
}

/** Whether a figure keeps to its target; one that is no number does not. */
export function verdictOn({ value, atMost }: Target): 'OK' | 'MISSED' {
  return value <= atMost ? 'OK' : 'MISSED'
}
