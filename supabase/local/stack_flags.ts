import { join } from 'node:path'
import type { Values } from './command.ts'
import { print } from './print.ts'
import { PROJECT_DIR, type StackOptions } from './stack.ts'

/** The flags of every command that starts a stack. */
export const stackFlags = {
  fresh: { type: 'boolean', default: false },
  'free-ports': { type: 'boolean', default: false },
  'data-dir': { type: 'string' },
} as const

/** What they say of themselves, a line each. */
export const stackFlagsHelp = `  --fresh              begin anew: drops the data of earlier starts
  --free-ports         take any free ports instead of those in supabase/config.toml
  --data-dir <folder>  keep the data there instead of in .outhook/stack
  --help               show this`

/** The stack that they ask for; it tells what happens on standard output. */
export function stackOptionsOf(values: Values<typeof stackFlags>): StackOptions {
  return {
    dataDir: values['data-dir'] ?? join(PROJECT_DIR, '.outhook/stack'),
    ports: values['free-ports'] ? 'free' : 'cli',
    fresh: values.fresh,
    log: print,
  }
}
