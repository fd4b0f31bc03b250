import { join } from 'node:path'
import type { Values } from './command.ts'
import { print } from './print.ts'
import { PROJECT_DIR, type StackOptions } from './stack.ts'

export const stackFlags = {
  fresh: { type: 'boolean', default: false },
  'free-ports': { type: 'boolean', default: false },
  'data-dir': { type: 'string' },
} as const

/** The help text of these flags. */
export const stackFlagsHelp = `  --fresh              drop the data of earlier starts
  --free-ports         use any free ports instead of those in supabase/config.toml
  --data-dir <folder>  store the data there instead of in .outhook/stack
  --help               show this`

/** The stack's options for these flags; it logs to standard output. */
export function stackOptionsOf(values: Values<typeof stackFlags>): StackOptions {
  return {
    dataDir: values['data-dir'] ?? join(PROJECT_DIR, '.outhook/stack'),
    ports: values['free-ports'] ? 'free' : 'cli',
    fresh: values.fresh,
    ticksAtOnce: true,
    log: print,
  }
}
