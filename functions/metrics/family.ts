/** Label names and values, in the order of the output. */
export type Labels = readonly (readonly [name: string, value: string])[]

/** One line. `suffix` comes after the family's name: `_bucket`, `_sum` or `_count`. */
export type Sample = { suffix?: string; labels: Labels; value: number }

/** The samples of one metric. `name` is without `_total`, which counters get. */
export type Family = {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  /** The unit at the end of the name, for OpenMetrics. */
  unit?: 'seconds' | 'bytes'
  help: string
  samples: readonly Sample[]
}

/** Pairs names with values; a missing value is empty. */
export function labelsOf(names: readonly string[], values: readonly string[]): Labels {
  return names.map((name, index) => [name, values[index] ?? ''] as const)
}
