import * as z from 'zod'

/** The contracts of `outbox.dispatch` that one side supports, from `oldest` to `newest`. */
export type ContractRange = { oldest: number; newest: number }

/**
 * The contracts of these functions. `outbox.contracts()` has those of the database, and
 * sql/engine/run/contract.sql the rules. Each call of a run sends this range, and both sides use the highest
 * number in both ranges.
 */
export const contractRange: ContractRange = { oldest: 1, newest: 1 }

/** Why the two sides cannot work together, and which side to update. */
export type ContractRefusal = { update: 'functions' | 'database'; message: string }

const refusedResponse = z.object({
  refused: z.object({ update: z.enum(['functions', 'database']), message: z.string() }),
})

/** Reads the refusal from a response of any contract; null if there is none. */
export function readRefusal(response: unknown): ContractRefusal | null {
  const read = refusedResponse.safeParse(response)
  return read.success ? read.data.refused : null
}

/**
 * The refusal for the error "no `outbox.dispatch` with these arguments": the schema is older than
 * contracts, or missing. Such a call has claimed nothing.
 */
export function missingDispatch(): ContractRefusal {
  return {
    update: 'database',
    message: 'The database has no outbox.dispatch that takes a contract: it is older than these ' +
      'functions. Update the database: push the migrations of the version of the ' +
      "functions. If you have done that, run notify pgrst, 'reload schema'",
  }
}
