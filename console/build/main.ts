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
  'sign-in': { type: 'string', default: '' },
} as const

const help = `Build the console as static files, for a host behind your own login.

  npx -y deno@2.9.6 task console:build --api <url> --sign-in <url> [--out <folder>]

  --api <url>          the URL of the project, such as https://<ref>.supabase.co
  --function <name>    the name of the function api in the project (default api)
  --out <folder>       where the files are written (default dist/console)
  --token-path <path>  a path of the same host that returns {"token": "…"} for whoever is logged in
                       (default /console-token)
  --sign-in <url>      where one logs in: a path of the host, or another URL. {path} in it is replaced by
                       the page to return to, such as /login?next={path}
  --help               show this

The page calls the API with the token of the user, and shows what its scopes allow. A token.js that is there
already is kept. Send the header "Content-Security-Policy: frame-ancestors 'none'" with all pages: the file
_headers says so to the hosts that read it.`

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
  if (!isPath(tokenPath)) {
    throw new SetupError(`--token-path is ${JSON.stringify(tokenPath)}: expected a path such as /t`)
  }
  if (signIn === '' || !URL.canParse(signIn, somewhere)) {
    throw new SetupError(
      `--sign-in is ${JSON.stringify(signIn)}: expected where one logs in, such as /login`,
    )
  }
  const files = await buildHosted(projectRoot, { api, functionName, tokenPath, signIn }, print)
  const folder = resolve(projectRoot, out)
  await removeOldAssets(folder, files)
  for (const [path, { bytes }] of files) {
    const file = join(folder, path)
    if (path === '/token.js' && await isThere(file)) {
      print(`kept ${join(out, path)}`)
      continue
    }
    await Deno.mkdir(dirname(file), { recursive: true })
    await Deno.writeFile(file, bytes)
    print(`wrote ${join(out, path)}`)
  }
  return 0
}

const somewhere = 'https://host.invalid'

/** Whether it is a path, which a browser does not read as another host. */
function isPath(text: string): boolean {
  return text.startsWith('/') && URL.canParse(text, somewhere) &&
    new URL(text, somewhere).origin === somewhere
}

async function isThere(file: string): Promise<boolean> {
  return await Deno.stat(file).then(() => true, () => false)
}

/** Removes what an earlier build has written and this one does not. */
async function removeOldAssets(folder: string, files: ReadonlyMap<string, unknown>): Promise<void> {
  const assets = join(folder, 'assets')
  if (!await isThere(assets)) return
  for await (const { name, isFile } of Deno.readDir(assets)) {
    if (isFile && !files.has(`/assets/${name}`)) await Deno.remove(join(assets, name))
  }
}

export const main = (): Promise<never> => runCommand({ help, flags, run })

if (import.meta.main) await main()
