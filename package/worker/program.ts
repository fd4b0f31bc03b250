/** The worker as a program, which `outhook worker` starts. With an argument, the database is of this option. */

import process from 'node:process'
import { messageOf } from '../../functions/_shared/base/errors.ts'
import { readWorkerEnv } from '../../functions/deliver/env.ts'
import { main } from '../../functions/deliver/worker.ts'
import { endWithNpm } from './parent.ts'

const stop = (): void => void process.kill(process.pid, 'SIGTERM')

checkVariables()
// A parent that cannot be replaced by this process keeps a channel open. Without it, nobody passes signals on.
process.on('disconnect', stop)
// The terminal was closed.
process.on('SIGHUP', stop)
endWithNpm(process.env, stop)

await main()

/** Says what is wrong where a person reads it, as the other commands do. */
function checkVariables(): void {
  const [, , option = 'OUTHOOK_DB_URL'] = process.argv
  try {
    readWorkerEnv(process.env)
  } catch (error) {
    process.stderr.write(`${messageOf(error).replaceAll('OUTHOOK_DB_URL', option)}\n`)
    process.exit(2)
  }
}
