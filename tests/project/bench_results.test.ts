import { expect } from '@std/expect'
import { join } from 'node:path'
import { readSection, section } from '../bench/report/readme.ts'
import { readNewest, resultsDir, resultsFiles } from '../bench/report/results.ts'

Deno.test("the README's performance section is that of the newest results", async () => {
  const newest = await readNewest()
  expect(await readSection()).toBe(newest === null ? '' : section(newest))
})

Deno.test('the charts are those of the newest results', async () => {
  const newest = await readNewest()
  for (const [name, text] of newest === null ? [] : resultsFiles(newest)) {
    expect(await Deno.readTextFile(join(resultsDir, name))).toBe(text)
  }
})
