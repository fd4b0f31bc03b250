/** `deno task console:build`: writes the console as static files, for a host behind a login. */

import { dirname, join, resolve } from 'node:path'
import { runCommand, type Values } from '../../supabase/local/command.ts'
import { SetupError } from '../../supabase/local/errors.ts'
import { print } from '../../supabase/local/print.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { buildHosted } from './hosted.ts'

const flags = {
  api: { type: 'string', default: '' },
  function: { type: 'string', default: 'api' },
  out: { type: 'string', default: 'dist/console' },
  'token-path': { type: 'string', default: '/console-token' },
  'sign-in': { type: 'string', default: '/' },
} as const

const help = `Build the console as static files, for a host behind your own login.

  npx -y deno@2.9.6 task console:build --api <url> [--out <folder>]

  --api <url>          the URL of the project, such as https://<ref>.supabase.co
  --function <name>    the name of the function api in the project (default api)
  --out <folder>       where the files are written (default dist/console)
  --token-path <path>  a path of the same host that returns {"token": "…"} for whoever is logged in
                       (default /console-token)
  --sign-in <url>      where one logs in (default /)
  --help               show this

The page calls the API with the token of the user, and shows what its scopes allow.`

async function run(values: Values<typeof flags>): Promise<number> {
  const { api, out, function: functionName, 'token-path': tokenPath, 'sign-in': signIn } = values
  if (!/^https?:\/\/[^/]/.test(api) || !URL.canParse(api)) {
    throw new SetupError(
      `--api is ${JSON.stringify(api)}: expected a URL such as https://<ref>.supabase.co`,
    )
  }
  if (!/^[\w-]+$/.test(functionName)) {
    throw new SetupError(`--function is ${JSON.stringify(functionName)}: expected its name`)
  }
  if (!/^\/(?!\/)/.test(tokenPath)) {
    throw new SetupError(`--token-path is ${JSON.stringify(tokenPath)}: expected a path such as /t`)
  }
  const files = await buildHosted(projectRoot, { api, functionName, tokenPath, signIn }, print)
  const folder = resolve(projectRoot, out)
  for (const [path, { bytes }] of files) {
    const file = join(folder, path)
    await Deno.mkdir(dirname(file), { recursive: true })
    await Deno.writeFile(file, bytes)
    print(`wrote ${join(out, path)}`)
  }
  return 0
}

export const main = (): Promise<never> => runCommand({ help, flags, run })

if (import.meta.main) await main()
