import { z } from 'zod'
import type { Context } from 'hono'
import type { ApiEnv } from './context.ts'

/** How many rows a list may read for the price of one request. */
const rowsOfRequest = 500

/** So many steps of filters take about as long as it takes to read a row. */
export const stepsOfRow = 100

/** The member of a list's result that says how many rows the database has read for it. */
export const rowsRead: z.ZodDefault<z.ZodInt> = z.int().default(0)

/** How many rows that are only counted, in an index, cost as much as one that is read. */
const countedOfRow = 20

/** Counts further requests of the organisation for many rows that were counted. */
export function chargeCounted(c: Context<ApiEnv>, rows: number): void {
  chargeRows(c, rows / countedOfRow)
}

/** Counts further requests of the organisation for many rows that were read. */
export function chargeRows(c: Context<ApiEnv>, rows: number): void {
  c.get('charge')?.(Math.floor(rows / rowsOfRequest))
}
