/** `deno task portal`: builds the customers' page into a folder. */

import { join, resolve } from 'node:path'
import { runCommand, type Values } from '../supabase/local/command.ts'
import { SetupError } from '../supabase/local/errors.ts'
import { print } from '../supabase/local/print.ts'
import { projectRoot } from '../supabase/local/schema/project.ts'
import { buildPortal } from './build/build.ts'
import { withApi } from './build/page.ts'

const flags = {
  api: { type: 'string', default: '' },
  function: { type: 'string', default: 'api' },
  out: { type: 'string', default: 'dist/portal' },
} as const

const help =
  `Build the webhooks page for customers: the element <outhook-portal>, and a hosted page.

  npx -y deno@2.9.6 task portal [--api <url>] [--function <name>] [--out <folder>]

  --api <url>        the URL of the project, such as https://<ref>.supabase.co, for the hosted page
  --function <name>  the name of the function api in the project (default api)
  --out <folder>     where the files are written (default dist/portal)
  --help             show this

Without --api, only the element and its wrapper for React are written.`

async function run(values: Values<typeof flags>): Promise<number> {
  const { api, out, function: functionName } = values
  if (api !== '' && !/^https?:\/\/[^/]/.test(api)) {
    throw new SetupError(
      `--api is ${JSON.stringify(api)}: expected a URL such as https://<ref>.supabase.co`,
    )
  }
  if (!/^[\w-]+$/.test(functionName)) {
    throw new SetupError(`--function is ${JSON.stringify(functionName)}: expected its name`)
  }
  const built = await buildPortal(projectRoot, print)
  const files = api === ''
    ? new Map([...built].filter(([name]) => !['index.html', 'page.js', 'page.css'].includes(name)))
    : withApi(built, { api, functionName })
  const folder = resolve(projectRoot, out)
  await Deno.mkdir(folder, { recursive: true })
  for (const [name, bytes] of files) {
    await Deno.writeFile(join(folder, name), bytes)
    print(`wrote ${join(out, name)}`)
  }
  return 0
}

export const main = (): Promise<never> => runCommand({ help, flags, run })

if (import.meta.main) await main()
