import { parseArgs, type ParseArgsConfig } from 'node:util'
import { machineProblem, messageOf, SetupError } from './errors.ts'
import { Interrupted, INTERRUPTED_CODE } from './interrupted.ts'
import { print, printError } from './print.ts'

type Flags = NonNullable<ParseArgsConfig['options']>

/** The values of a command's flags. */
export type Values<T extends Flags> = ReturnType<typeof parseArgs<{ options: T }>>['values']

/** The flags of a command that writes a file, or only compares it. */
export const checkFlags = { check: { type: 'boolean', default: false } } as const

export interface Command<T extends Flags> {
  /** The text for `--help` and for a wrong argument. */
  help: string
  /** The flags besides `--help`, for `parseArgs` of `node:util`. */
  flags: T
  /** Runs the command and resolves with its exit code. */
  run(values: Values<T>): Promise<number>
}

/**
 * Runs a command in this process and exits. Exit codes: 2 for a wrong argument; 1 for a SetupError or a
 * failure of the machine (such as a full disk), of which it prints only the message; 130 after Ctrl-C.
 * It throws any other error, which is a bug.
 */
export async function runCommand<T extends Flags>(command: Command<T>): Promise<never> {
  const values = read(command)
  if (typeof values === 'number') Deno.exit(values)
  try {
    Deno.exit(await command.run(values))
  } catch (error) {
    if (error instanceof Interrupted) Deno.exit(INTERRUPTED_CODE)
    if (!printFailure(error)) throw error
    Deno.exit(1)
  }
}

/** Prints the message of a SetupError or a failure of the machine; false for any other error. */
export function printFailure(error: unknown): boolean {
  const told = error instanceof SetupError ? error.message : machineProblem(error)
  if (told !== null) printError(told)
  return told !== null
}

/** The values of the flags, or the exit code if there is nothing to run. */
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
