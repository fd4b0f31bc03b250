/**
 * What Supabase's plans and sizes have and cost, in US dollars a month. Copied on 2026-12-01 from
 * https://supabase.com/docs/guides/platform/compute-and-disk and
 * https://supabase.com/docs/guides/platform/manage-your-usage: look there before you decide.
 */

export const pricesAt = '2026-12-01'

/** A size of the database. */
export interface Size {
  name: string
  dollars: number
  cores: number
  /** The recommended size of the database. */
  databaseGb: number
  diskMegabits: number
  connections: number
}

function size(
  name: string,
  [dollars, cores, databaseGb, diskMegabits, connections]: [number, number, number, number, number],
): Size {
  return { name, dollars, cores, databaseGb, diskMegabits, connections }
}

export const sizes: readonly Size[] = [
  size('Micro', [10, 2, 10, 87, 60]),
  size('Small', [15, 2, 50, 174, 90]),
  size('Medium', [60, 2, 100, 347, 120]),
  size('Large', [110, 2, 200, 630, 160]),
  size('XL', [210, 4, 500, 1_188, 240]),
  size('2XL', [410, 8, 1_000, 2_375, 380]),
  size('4XL', [960, 16, 2_000, 4_750, 480]),
  size('8XL', [1_870, 32, 4_000, 9_500, 490]),
  size('12XL', [2_800, 48, 6_000, 14_250, 500]),
  size('16XL', [3_730, 64, 10_000, 19_000, 500]),
]

/** Of the Pro plan: what is included, and the price of more. */
export const plan = {
  dollars: 25,
  computeCredit: 10,
  invocations: { included: 2e6, perMillion: 2 },
  egress: { includedGb: 250, perGb: 0.09 },
  disk: { includedGb: 8, perGb: 0.125 },
}
