/** The pages take the package from no registry, because its name is not ours. */

import { expect } from '@std/expect'
import { docs } from './_docs.ts'
import { readProjectFile } from './_tracked.ts'

const others = [
  'package/README.md',
  'package/command/README.md',
  'package/functions/README.md',
  'package/worker/README.md',
  'package/command/main.ts',
  'package/command/init/report.ts',
  'package/command/api/register.ts',
  'package/command/deploy/deploy.ts',
  'package/command/uninstall/uninstall.ts',
  'package/program/main.ts',
]

/** A command or an import that takes one of the packages by its name. */
const commands = '(?:npx(?! --no )|bunx|(?:npm|bun|deno|yarn|pnpm) (?:i|install|add))'
const name = 'outhook(?:-command|-functions|-worker)?'
const pattern = new RegExp(
  `${commands}[^\\n\`]*\\s(?:npm:)?${name}(?:@\\S+)?\\s|npm:${name}\\b`,
)

Deno.test('no page installs a package of outhook from a registry', async () => {
  const texts = await Promise.all(
    others.map(async (
      path,
    ): Promise<[string, string]> => [path, await readProjectFile(path) ?? '']),
  )
  expect(texts.filter(([, text]) => text === '')).toEqual([])
  const found = [...docs, ...texts].filter(([, text]) => pattern.test(text)).map(([path]) => path)
  expect(found).toEqual([])
})

Deno.test('the pattern finds each name', () => {
  for (const one of ['outhook', 'outhook-command', 'outhook-functions', 'outhook-worker']) {
    expect(pattern.test(`npm install ${one}\n`)).toBe(true)
    expect(pattern.test(`import 'npm:${one}@1.0.0/x'`)).toBe(true)
    expect(pattern.test(`npx --no ${one} init\n`)).toBe(false)
  }
})
