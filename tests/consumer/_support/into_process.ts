/** `outhook consume` from its sources in a process of its own: the arguments are its flags and variables as JSON. */

import { type IntoFlags, runInto } from '../../../package/consume/into.ts'
import { stopSignal } from '../../../consumer/stop.ts'

if (import.meta.main) {
  const [flags = '{}'] = Deno.args
  // SAFETY: a test writes them.
  Deno.exitCode = await runInto(JSON.parse(flags) as IntoFlags, {
    env: Deno.env.toObject(),
    readFile: Deno.readTextFile,
    // deno-lint-ignore no-console
    print: console.log,
    // deno-lint-ignore no-console
    printError: console.error,
    stop: stopSignal(),
  })
}
