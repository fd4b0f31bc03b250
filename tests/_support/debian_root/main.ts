/**
 * Runs a command in a minimal Debian root:
 *
 *   deno run -A tests/_support/debian_root/main.ts <suite> [package…] [--bind <source>:<target>] \
 *     -- <command…>
 *
 * for example `… trixie postgresql-17 postgresql-17-cron --bind "$PWD:/project" -- bash`.
 */

import { resolve } from 'node:path'
import { print, printError } from '../../../supabase/local/print.ts'
import { openDebianRoot, type Suite } from './mod.ts'

const split = Deno.args.indexOf('--')
const [suite = '', ...rest] = split < 0 ? [] : Deno.args.slice(0, split)
if (suite !== 'bookworm' && suite !== 'trixie') {
  printError('usage: main.ts bookworm|trixie [package…] [--bind <source>:<target>] -- <command…>')
  Deno.exit(2)
}
const packages: string[] = []
const binds: [string, string][] = []
for (let at = 0; at < rest.length; at++) {
  if (rest[at] !== '--bind') packages.push(rest[at] ?? '')
  else {
    const [source = '', target = ''] = rest[++at]?.split(':') ?? []
    binds.push([resolve(source), target])
  }
}
Deno.exit(await main(suite, Deno.args.slice(split + 1)))

async function main(suite: Suite, words: string[]): Promise<number> {
  await using root = await openDebianRoot({ suite, packages, log: print })
  const { code } = await root.run(words, { binds, stdin: 'inherit', stdout: 'inherit' })
  return code
}
