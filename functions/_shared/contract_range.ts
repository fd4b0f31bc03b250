import { z } from 'zod'

/** Numbers of the contracts of `outbox.dispatch` that one side speaks, from `oldest` to `newest`. */
export type ContractRange = { oldest: number; newest: number }

/**
 * What these functions speak; `outbox.contracts()` has the other side, and sql/34_contract.sql the
 * rules. Each call of a run carries it, and both sides use the highest number that both speak.
 */
export const contractRange: ContractRange = { oldest: 1, newest: 1 }

/** Why the two sides cannot work together, and which of them is to be updated. */
export type ContractRefusal = { update: 'functions' | 'database'; message: string }

const refusedAnswer = z.object({
  refused: z.object({ update: z.enum(['functions', 'database']), message: z.string() }),
})

/** Reads the refusal that an answer of any contract may hold; null when it holds none. */
export function readRefusal(answer: unknown): ContractRefusal | null {
  const read = refusedAnswer.safeParse(answer)
  return read.success ? read.data.refused : null
}

/**
 * What an error means that says there is no `outbox.dispatch` with these arguments: a schema from
 * before contracts, or none at all. Such a call has claimed nothing.
 */
export function missingDispatch(): ContractRefusal {
  return {
    update: 'database',
    message: 'The database has no outbox.dispatch that takes a contract: it is older than these ' +
      'functions. Update the database, that is push the migrations of the version of the ' +
      "functions; if that is done, notify pgrst, 'reload schema'",
  }
}
