/** `outhook spread-org` from its sources in a process of its own: the arguments are the organisation and its options as JSON. */

import {
  runSpreadOrg,
  type SpreadOrgOptions,
} from '../../../package/command/spread_org/spread_org.ts'

if (import.meta.main) {
  const [org = '', options = '{}'] = Deno.args
  // SAFETY: the test writes them.
  Deno.exitCode = await runSpreadOrg(org, JSON.parse(options) as SpreadOrgOptions, {
    env: Deno.env.toObject(),
    readFile: Deno.readTextFile,
    terminal: {
      isInteractive: false,
      // deno-lint-ignore no-console
      print: console.log,
      // deno-lint-ignore no-console
      printError: console.error,
    },
  })
}
