/** What makes a round count: the counts of all parties agree, and there was no error. */

/** What the publisher and the receiver say of one round. */
export interface Arrivals {
  /** Events that were there to be delivered, those loaded before included. */
  published: number
  /** Whether all of them had to arrive. */
  isDrained: boolean
  /** Distinct events and all requests that the receiver saw, and those that were wrong. */
  distinct: number
  received: number
  wrong: number
}

/** What each party says of one round. */
export interface Tally extends Arrivals {
  /** Deliveries handed to the side, and those it calls failed. */
  claimed: number
  errors: number
  lastError?: string
  /** What the store has finished in this round and what it still holds; null where it has none. */
  finished: number | null
  unfinished: number | null
}

/** Says what did not arrive as it should; nothing when all is right. */
export function arrivalProblems(arrivals: Arrivals): string[] {
  const { published, isDrained, distinct, received, wrong } = arrivals
  const problems: string[] = []
  if (isDrained && distinct !== published) {
    problems.push(`${distinct} of ${published} events arrived`)
  }
  if (received !== distinct) problems.push(`${received - distinct} arrived a second time`)
  if (wrong > 0) problems.push(`${wrong} arrived with another size, number or signature`)
  return problems
}

/** Says what does not agree; nothing when all is right. */
export function tallyProblems(tally: Tally): string[] {
  const { published, distinct, received, claimed, errors, finished, unfinished } = tally
  const problems = arrivalProblems(tally)
  const left = published - distinct
  if (received !== claimed) problems.push(`${received} requests arrived for ${claimed} claims`)
  if (finished !== null && finished !== received) {
    problems.push(`the store calls ${finished} finished, ${received} arrived`)
  }
  if (unfinished !== null && unfinished !== left) {
    problems.push(`the store still holds ${unfinished}, ${left} did not arrive`)
  }
  if (errors > 0) {
    const last = tally.lastError === undefined ? '' : `, the last: ${tally.lastError}`
    problems.push(`the side made ${errors} errors${last}`)
  }
  return problems
}
