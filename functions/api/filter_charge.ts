import type { Context } from 'hono'
import type { ApiEnv } from './context.ts'

/** For each full number of these characters of a filter, the request counts as one more request. */
const charactersOfRequest = 100

/**
 * Counts further requests of the organisation for a filter that the database reads: it does this word by word,
 * 1 ms for 100 characters. Call it before the database, because an invalid filter takes as long.
 */
export function chargeFilter(c: Context<ApiEnv>, filter: string | null | undefined): void {
  c.get('charge')?.(Math.floor((filter?.length ?? 0) / charactersOfRequest))
}
