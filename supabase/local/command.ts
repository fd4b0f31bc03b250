import { parseArgs, type ParseArgsConfig } from 'node:util'
import { machineProblem, messageOf, SetupError } from './errors.ts'
import { Interrupted, INTERRUPTED_CODE } from './interrupted.ts'
import { print, printError } from './print.ts'

type Flags = NonNullable<ParseArgsConfig['options']>

/** What the flags of a command were given as. */
export type Values<T extends Flags> = ReturnType<typeof parseArgs<{ options: T }>>['values']

/** The flags of a command that writes a file, or only compares it. */
export const checkFlags = { check: { type: 'boolean', default: false } } as const

export interface Command<T extends Flags> {
  /** What `--help` shows, and a wrong argument too. */
  help: string
  /** The flags that it takes besides `--help`, as `parseArgs` of `node:util` is told of them. */
  flags: T
  /** Does the work, and gives the exit code. */
  run(values: Values<T>): Promise<number>
}

/**
 * Makes this process a command: reads its arguments, runs it and exits, with 2 when an argument is
 * wrong. A SetupError is for the person at the keyboard, so its message is shown alone, with code
 * 1, and so is what the machine refuses (a full disk); after Ctrl-C the code is 130. Any other error
 * is a bug and is thrown.
 */
export async function runCommand<T extends Flags>(command: Command<T>): Promise<never> {
  const values = read(command)
  if (typeof values === 'number') Deno.exit(values)
  try {
    Deno.exit(await command.run(values))
  } catch (error) {
    if (error instanceof Interrupted) Deno.exit(INTERRUPTED_CODE)
    const told = error instanceof SetupError ? error.message : machineProblem(error)
    if (told === null) throw error
    printError(told)
    Deno.exit(1)
  }
}

/** The values, or the exit code of a command that does not run. */
function read<T extends Flags>({ help, flags }: Command<T>): Values<T> | number {
  if (Deno.args.includes('--help') || Deno.args.includes('-h')) {
    print(help)
    return 0
  }
  try {
    return parseArgs({ args: Deno.args, options: flags }).values
  } catch (error) {
    printError(`${messageOf(error)}\n\n${help}`)
    return 2
  }
}
