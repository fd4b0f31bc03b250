import { expect } from '@std/expect'
import { join, resolve } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { projectFiles, readProjectFile } from './_tracked.ts'

/** The anchors of a page's headings, made the way that its readers' sites make them. */
function anchors(page: string): Set<string> {
  const headings = [...page.replaceAll(/^ *```[^]*?^ *```$/gm, '').matchAll(/^#+ (.+)$/gm)]
  return new Set(
    headings.map(([, text = '']) =>
      text.toLowerCase().replaceAll(/[^\w\- ]/g, '').replaceAll(' ', '-')
    ),
  )
}

/** Why a link of the page at `path` leads nowhere, or null. */
async function problem(path: string, link: string): Promise<string | null> {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? path : resolve('/', path, '..', file).slice(1)
  try {
    const { isDirectory } = await Deno.stat(join(projectRoot, target))
    if (anchor === undefined || isDirectory) return null
  } catch {
    return `${path}: ${link} is not there`
  }
  const page = await readProjectFile(target) ?? ''
  return anchors(page).has(anchor) ? null : `${path}: ${link} has no such heading`
}

Deno.test('every link between the pages leads somewhere', async () => {
  const found: string[] = []
  for (const path of (await projectFiles()).filter((path) => path.endsWith('.md'))) {
    const text = await readProjectFile(path) ?? ''
    for (const [, link = ''] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const said = await problem(path, link)
      if (said !== null) found.push(said)
    }
  }
  expect(found).toEqual([])
})
