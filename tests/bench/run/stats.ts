/** Sums of numbers. */

/** The middle one; NaN of none. */
export function median(numbers: number[]): number {
  return percentile(numbers, 50)
}

/** The value that `percent` of them do not exceed; NaN of none. */
export function percentile(numbers: number[], percent: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * percent / 100) - 1)] ?? NaN
}
