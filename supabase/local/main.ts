/** `deno task stack`: runs the stack until Ctrl-C. */

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SetupError } from './errors.ts'
import { interrupted } from './interrupted.ts'
import { print, printError } from './print.ts'
import { PROJECT_DIR, startStack } from './stack.ts'
import { summary } from './summary.ts'

const HELP = `Run the local Supabase stack: Postgres, the RPC gateway and the functions.

  npx -y deno@2.9.6 task stack [--fresh] [--free-ports] [--data-dir <folder>]

  --fresh              begin anew: drops the data of earlier starts
  --free-ports         take any free ports instead of those in supabase/config.toml
  --data-dir <folder>  keep the data there instead of in .outhook/stack
  --help               show this

Ctrl-C stops everything it started, as does kill with the pid in stack.lock of that folder. The next
start finds the data again. What a function writes stands behind its name: [deliver] …`

async function main(args: string[]): Promise<number> {
  const options = readOptions(args)
  if (options === null) return 2
  if (options.help) {
    print(HELP)
    return 0
  }
  const dataDir = options['data-dir'] ?? join(PROJECT_DIR, '.outhook/stack')
  const stack = await startStack({
    dataDir,
    ports: options['free-ports'] ? 'free' : 'cli',
    fresh: options.fresh,
    log: print,
  })
  const ends = [interrupted(), stack.databaseEnded]
  print(await summary(stack))
  const end = await Promise.race(ends)
  if (end === 'interrupted') print('\nstopping')
  else printError(`the database server ended (code ${end}): see ${dataDir}/postgres.log`)
  await stack.stop()
  return end === 'interrupted' ? 0 : 1
}

interface Options {
  fresh: boolean
  'free-ports': boolean
  'data-dir'?: string
  help: boolean
}

function readOptions(args: string[]): Options | null {
  try {
    return parseArgs({
      args,
      options: {
        fresh: { type: 'boolean', default: false },
        'free-ports': { type: 'boolean', default: false },
        'data-dir': { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values
  } catch (error) {
    printError(`${error instanceof Error ? error.message : error}\n\n${HELP}`)
    return null
  }
}

try {
  Deno.exit(await main(Deno.args))
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  printError(error.message)
  Deno.exit(1)
}
