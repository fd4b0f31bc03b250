/** The table of messages in docs/local-stack.md against the texts of supabase/local/. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { listFiles } from '../_run/files.ts'
import { docsTable } from './_docs.ts'

/** Said by the shell. */
const notOurs = 'npx: command not found'

const rows = docsTable('docs/local-stack.md', 'The first start')
  .map(([message = '', remedy = '']) => ({ message: message.replace(/` \(by .*\)$/, ''), remedy }))
const messages = rows.map(({ message }) => message.replaceAll('`', ''))
  .filter((message) => message !== notOurs)

/** The code of a file in which each text stands on one line, however many lines it is written on. */
async function sourceOf(path: string): Promise<string> {
  const text = await Deno.readTextFile(join(projectRoot, path))
  return text.replaceAll(/(['"`])\s*\+\s*(['"`])/g, '')
}

/** Matches the text of a message; `…` stands for what differs from time to time. */
function pattern(message: string): RegExp {
  const parts = message.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(parts.join('.*'))
}

Deno.test('the page on the local stack quotes messages in the words of the code', async () => {
  const paths = await listFiles(projectRoot, 'supabase/local', '.ts')
  const sources = await Promise.all(paths.map(sourceOf))
  const unsaid = messages.filter((message) => !sources.some((text) => pattern(message).test(text)))
  expect(unsaid).toEqual([])
  expect(messages.length).toBeGreaterThan(15)
  expect(rows.filter(({ remedy }) => remedy === '')).toEqual([])
})

for (
  const [file, count] of [
    ['packages/problem.ts', 7],
    ['postgres/apt.ts', 4],
    ['errors.ts', 2],
  ] as const
) {
  Deno.test(`the page on the local stack lists each cause in ${file}`, async () => {
    const source = await sourceOf(`supabase/local/${file}`)
    // A cause is a sentence with its remedy behind a colon.
    const causes = [...source.matchAll(/^ +['"`]([A-Za-z][^:\n]+\S): \w.*['"`],?$/gm)]
      .map(([, cause = '']) => cause)
    expect(causes.length).toBe(count)
    expect(causes.filter((cause) => !messages.some((one) => pattern(one).test(cause)))).toEqual([])
  })
}
