import type { SqlError } from './functions.ts'

/** What to do when a function of the project and the database are of different versions. */
export const sameVersionAdvice =
  'the functions and the database are of different versions: push the migrations and deploy the ' +
  'functions of one version'

/**
 * Whether an error says that the database has no such function with these arguments, which is so
 * when one side is older than the other. Such a call has done nothing.
 */
export function isMissingFunction({ code }: Pick<SqlError, 'code'>): boolean {
  return code === 'PGRST202'
}
