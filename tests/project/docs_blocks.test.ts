/** Every code block with a name is run or read by a test. */

import { expect } from '@std/expect'
import { projectFiles, readProjectFile } from './_tracked.ts'

Deno.test('a test names each code block of the pages that has a name', async () => {
  const files = await projectFiles()
  const pages = files.filter((path) =>
    /^(?:README\.md|docs\/.*\.md|sql\/ops\/RUNBOOK\.md)$/.test(path)
  )
  const names: string[] = []
  for (const path of pages) {
    const text = await readProjectFile(path) ?? ''
    for (const [, name = ''] of text.matchAll(/^ *```\w+ name=(\S+)$/gm)) names.push(name)
  }
  expect(names.length).toBeGreaterThan(50)
  const tests = await Promise.all(
    files.filter((path) => /^tests\/.*\.ts$/.test(path)).map(readProjectFile),
  )
  const text = tests.join('\n')
  expect(names.filter((name) => !text.includes(`'${name}'`))).toEqual([])
})
