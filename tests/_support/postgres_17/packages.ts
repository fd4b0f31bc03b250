/** Downloads and unpacks packages of Debian 13 with the machine's apt, without installing them. */

import { join } from 'node:path'
import { messageOf, SetupError } from '../../../supabase/local/errors.ts'
import { exists } from '../../../supabase/local/exists.ts'
import { machineMirror, output } from '../debian_root/mirror.ts'

const KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg'

/**
 * Unpacks `packages` and the packages that they depend on into `target`, except those that `without`
 * matches. Uses the mirror of this machine's apt sources, with package lists in `folder`. Needs no root.
 * Throws a SetupError if the mirror has no Debian 13.
 */
export async function unpackPackages(
  { packages, without, folder, target }: {
    packages: readonly string[]
    without: RegExp
    folder: string
    target: string
  },
): Promise<void> {
  const apt = await aptOptions(folder)
  try {
    await output('apt-get', [...apt, 'update'])
  } catch (error) {
    const { archive } = await machineMirror()
    throw new SetupError(
      `Cannot read the packages of Debian 13 (trixie) from ${archive}: use a mirror that has them ` +
        `in this machine's apt sources\n${messageOf(error)}`,
    )
  }
  const install = [...apt, '--no-install-recommends', '--yes', '--print-uris', 'install']
  const listed = await output('apt-get', [...install, ...packages])
  const names = [...listed.matchAll(/^'[^']+' ([^_\s]+)_/gm)].map(([, name = '']) => name)
  const wanted = names.filter((name) => !without.test(name))
  const downloads = join(folder, 'downloads')
  await Deno.mkdir(downloads)
  await output('apt-get', [...apt, 'download', ...wanted], { cwd: downloads })
  for await (const { name } of Deno.readDir(downloads)) {
    await output('dpkg-deb', ['--extract', join(downloads, name), target])
  }
}

/** Options for lists of Debian 13 alone, of a machine on which nothing is installed. */
async function aptOptions(folder: string): Promise<string[]> {
  const { archive, security } = await machineMirror()
  const signed = await exists(KEYS) ? `[signed-by=${KEYS}] ` : ''
  const sources = [`deb ${signed}${archive} trixie main`]
  if (security !== null) sources.push(`deb ${signed}${security} trixie-security main`)
  for (const part of ['state/lists/partial', 'cache/archives/partial']) {
    await Deno.mkdir(join(folder, part), { recursive: true })
  }
  await Deno.writeTextFile(join(folder, 'sources.list'), `${sources.join('\n')}\n`)
  await Deno.writeTextFile(join(folder, 'status'), '')
  const settings = {
    'Dir::State': join(folder, 'state'),
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': join(folder, 'cache'),
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Dir::Etc::preferences': '-',
    'Dir::Etc::preferencesparts': '-',
    // The folder belongs to this user, not to apt's own.
    'APT::Sandbox::User': 'root',
    'APT::Update::Error-Mode': 'any',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
  }
  return ['-q', ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])]
}
