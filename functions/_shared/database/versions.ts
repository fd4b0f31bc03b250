import type { SqlError } from './functions.ts'

/** What to do if a function of the project and the database have different versions. */
export const sameVersionAdvice =
  'the functions and the database have different versions: push the migrations and deploy the ' +
  'functions of the same version'

/**
 * Whether an error means that the database has no such function with these arguments, because one
 * side is older than the other. Such a call has done nothing.
 */
export function isMissingFunction({ code }: Pick<SqlError, 'code'>): boolean {
  return code === 'PGRST202'
}
