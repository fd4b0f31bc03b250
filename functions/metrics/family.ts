/** The names and values of a sample's labels, in the order in which they are written. */
export type Labels = readonly (readonly [name: string, value: string])[]

/** One line. `suffix` is what follows the family's name: `_bucket`, `_sum` or `_count`. */
export type Sample = { suffix?: string; labels: Labels; value: number }

/** The samples of one metric. `name` is without `_total`, which the samples of a counter get. */
export type Family = {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  /** The unit that the name ends with, for OpenMetrics. */
  unit?: 'seconds' | 'bytes'
  help: string
  samples: readonly Sample[]
}

/** Labels from their names and as many values; a missing value is empty. */
export function labelsOf(names: readonly string[], values: readonly string[]): Labels {
  return names.map((name, index) => [name, values[index] ?? ''] as const)
}
