import { fileURLToPath } from 'node:url'

/** Absolute path of the repository's root, with no slash at its end. */
export const projectRoot: string = fileURLToPath(new URL('../../../', import.meta.url))
  .replace(/[\\/]$/, '')

/** The committed, normalised dump of the schema. */
export const expectedDump = 'tests/sql/schema.expected.sql'

/** The committed table of the schema's functions. */
export const expectedFunctions = 'tests/sql/schema/functions.expected.txt'
