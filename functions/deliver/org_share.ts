import type { RunState } from './state.ts'

/**
 * How much more than the free rest one organisation may hold. So one organisation holds at most three
 * quarters of a run, two hold three sevenths each.
 */
const timesOfFree = 3

/** Counts `count` more deliveries of an organisation, or fewer if it is negative. */
export function countHeld(heldBy: Map<string, number>, orgId: string, count: number): void {
  const held = (heldBy.get(orgId) ?? 0) + count
  if (held > 0) heldBy.set(orgId, held)
  else heldBy.delete(orgId)
}

/** What the next claim of a run may ask for. */
export type ClaimShare = {
  /** The most deliveries. */
  limit: number
  /** The organisations that hold their share of the run, so that the claim must not serve them. */
  full: string[]
}

/**
 * The share of the next claim of a run that could take `room` deliveries. Requests that hang until their
 * timeout use no slots, but a run holds at most `maxOutstanding` of them, and another organisation would
 * wait for the first timeout. All deliveries of a claim may be of one organisation, so the limit is the
 * largest with which no organisation holds more than its share afterwards. An organisation for which it
 * would be 0 is full.
 */
export function claimShare(
  { heldBy, outstanding, offered }: RunState,
  room: number,
  maxOutstanding: number,
): ClaimShare {
  // held + limit <= timesOfFree * (free - limit)
  const free = maxOutstanding - outstanding - offered
  const most = (held: number): number => Math.floor((timesOfFree * free - held) / (timesOfFree + 1))
  const isFull = ([, held]: [string, number]): boolean => most(held) < 1
  const full = [...heldBy].filter(isFull).map(([orgId]) => orgId)
  const held = [...heldBy].filter((entry) => !isFull(entry)).map(([, count]) => count)
  // At least 1, for an organisation that holds nothing.
  return { limit: Math.min(room, Math.max(1, most(Math.max(0, ...held)))), full }
}
