import { fileURLToPath } from 'node:url'

/** The absolute path of the repository's root, without a final slash. */
export const projectRoot: string = fileURLToPath(new URL('../../../', import.meta.url))
  .replace(/[\\/]$/, '')

/** The committed, normalised dump of the schema. */
export const expectedDump = 'tests/sql/schema.expected.sql'

/** The committed table of the schema's functions. */
export const expectedFunctions = 'tests/sql/schema/functions.expected.txt'
