/** `deno task stack`: runs the stack until Ctrl-C. */

import { runCommand, type Values } from './command.ts'
import { aborted, interruption } from './interrupted.ts'
import { print, printError } from './print.ts'
import { startStack } from './stack.ts'
import { stackFlags as commonFlags, stackFlagsHelp, stackOptionsOf } from './stack_flags.ts'
import { summary } from './summary.ts'

const flags = { ...commonFlags, whatsapp: { type: 'boolean', default: false } } as const

const help = `Run the local Supabase stack: Postgres, the RPC gateway and the functions.

  npx -y deno@2.9.6 task stack [--whatsapp] [--fresh] [--free-ports] [--data-dir <folder>]

  --whatsapp           also run a WhatsApp, on which you answer as the person: docs/try-whatsapp.md
${stackFlagsHelp}

Ctrl-C stops everything it started, as does kill with the pid in stack.lock of that folder. The next
start finds the data again. What a function writes stands behind its name: [deliver] …`

async function run(values: Values<typeof flags>): Promise<number> {
  const options = stackOptionsOf(values)
  const signal = interruption()
  const stack = await startStack({ ...options, whatsapp: values.whatsapp, signal })
  const ends = [aborted(signal), stack.databaseEnded]
  print(await summary(stack))
  const end = await Promise.race(ends)
  if (end === 'interrupted') print('\nstopping')
  else printError(`the database server ended (code ${end}): see ${options.dataDir}/postgres.log`)
  await stack.stop()
  return end === 'interrupted' ? 0 : 1
}

export const main = (): Promise<never> => runCommand({ help, flags, run })

if (import.meta.main) await main()
