import { join } from 'node:path'
import { SetupError } from '../../supabase/local/errors.ts'
import { runTool } from './run_tool.ts'

/** The file with the licences of what a bundle contains. Most of them require it in each copy. */
export const noticesFile = 'THIRD_PARTY_NOTICES.txt'

/** Licences that allow a copy with their text in it. */
export const allowedLicences: readonly string[] = [
  ...['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0', 'Unlicense'],
]

interface Manifest {
  name: string
  version: string
  license?: string
  author?: string | { name?: string }
}

/**
 * The notices of the packages in these folders. Throws a SetupError for a licence that is not allowed.
 */
export async function noticesText(folders: Iterable<string>): Promise<string> {
  const parts: string[] = []
  for (const folder of new Set(folders)) parts.push(await noticeOf(folder))
  return 'This software contains the following packages.\n' + parts.sort().join('')
}

async function noticeOf(folder: string): Promise<string> {
  // SAFETY: npm installs no package without a name and a version.
  const manifest = JSON.parse(
    await Deno.readTextFile(join(folder, 'package.json')),
  ) as Manifest
  const { name, version, license = 'unknown' } = manifest
  if (!allowedLicences.includes(license)) {
    throw new SetupError(`${name} ${version} has the licence ${license}, which is not allowed`)
  }
  const texts: string[] = []
  const files = (await Array.fromAsync(Deno.readDir(folder))).map((entry) => entry.name).sort()
  for (const file of files.filter((one) => /^(licen[cs]e|notice|copying)/i.test(one))) {
    texts.push((await Deno.readTextFile(join(folder, file))).trim())
  }
  if (texts.length === 0) texts.push(standardText(manifest))
  return `\n${'-'.repeat(78)}\n${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`
}

/** For a package that only names its licence. */
function standardText({ name, license, author }: Manifest): string {
  // It asks for no notice: https://unlicense.org
  if (license === 'Unlicense') return 'This package is dedicated to the public domain.'
  if (license !== 'MIT') throw new SetupError(`${name} has no text of its licence ${license}`)
  const by = typeof author === 'string' ? author : author?.name ?? `the authors of ${name}`
  return `Copyright (c) ${by}\n\n${mit}`
}

const mit =
  `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO
EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR
THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

/** The folders of the packages in a bundle of esbuild, from its metafile. */
export async function packagesOfMetafile(root: string, metafile: string): Promise<string[]> {
  // SAFETY: esbuild writes it.
  const { inputs } = JSON.parse(await Deno.readTextFile(metafile)) as {
    inputs: Record<string, unknown>
  }
  return Object.keys(inputs).flatMap((path) => {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []
    return folder === undefined ? [] : [join(root, folder)]
  })
}

/** The folders of the packages that a module of the project imports, also by way of others. */
export async function packagesOfModule(root: string, module: string): Promise<string[]> {
  const said = await runTool(Deno.execPath(), ['info', '--json', module], { cwd: root })
  // SAFETY: version 1 of the output of deno info.
  const { npmPackages } = JSON.parse(said) as {
    npmPackages: Record<string, { localPath: string }>
  }
  return Object.values(npmPackages).map(({ localPath }) => localPath)
}
