/** Restarts with the flags of a worker, and prints its process id, its flags, its threads and its problem. */

import { readdirSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import process from 'node:process'
import { runtime } from '../../functions/_shared/runtime/current.ts'

export async function main(): Promise<void> {
  const problem = runtime.restartWithFlags()
  // The first work for the threads starts all of them.
  await stat('/')
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').length : null
  const { pid, execArgv: flags, argv } = process
  runtime.writeStdout(`${JSON.stringify({ pid, flags, args: argv.slice(2), threads, problem })}\n`)
}
