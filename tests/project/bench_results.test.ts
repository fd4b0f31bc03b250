import { expect } from '@std/expect'
import { join } from 'node:path'
import { pages } from '../bench/report/pages.ts'
import { readNewest, resultsDir, resultsFiles } from '../bench/report/results.ts'

for (const page of pages) {
  Deno.test(`the figures in ${page.path} are those of the newest results`, async () => {
    const newest = await readNewest()
    expect(await page.read()).toBe(newest === null ? '' : page.section(newest))
  })
}

Deno.test('the charts are those of the newest results', async () => {
  const newest = await readNewest()
  for (const [name, text] of newest === null ? [] : resultsFiles(newest)) {
    expect(await Deno.readTextFile(join(resultsDir, name))).toBe(text)
  }
})
