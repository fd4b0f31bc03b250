/** What replaces an extension point keeps its head: Postgres drops what a replacement does not repeat. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { readOrder } from '../../supabase/local/schema/order.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'

interface Head {
  name: string
  path: string
  replaces: boolean
  /** From the name to the body, on one line: arguments, result, language, options. */
  text: string
}

const heads: Head[] = []
for (const module of await readOrder(projectRoot)) {
  for (const path of module.paths) {
    const sql = await Deno.readTextFile(join(projectRoot, path))
    const found = sql.matchAll(
      /^create (or replace )?function\s+outbox\.(\w+)([^$]*?)\bas \$\w*\$/gm,
    )
    for (const [, replaces, name = '', text = ''] of found) {
      heads.push({
        name,
        path,
        replaces: replaces !== undefined,
        text: text.replaceAll(/\s+/g, ' '),
      })
    }
  }
}

const points = heads.filter(({ path }) => path.endsWith('/extension_points.sql'))

Deno.test('the extension points are found, each once', () => {
  const names = points.map(({ name }) => name)
  expect(names).toContain('on_results')
  expect(names).toEqual([...new Set(names)])
  expect(points.filter(({ replaces }) => replaces)).toEqual([])
})

Deno.test('every extension point says in its comment what it is', async () => {
  for (const { name, path } of points) {
    const sql = await Deno.readTextFile(join(projectRoot, path))
    const comment = new RegExp(`comment on function outbox\\.${name}\\([^']*'Extension point\\b`)
    expect([name, comment.test(sql)]).toEqual([name, true])
  }
})

Deno.test('only an extension point is replaced, by the same arguments, result and options', () => {
  const replaced = heads.filter(({ replaces }) => replaces)
  expect(replaced.length).toBeGreaterThan(0)
  for (const { name, path, text } of replaced) {
    const point = points.find((one) => one.name === name)
    expect([path, name, text]).toEqual([path, name, point?.text])
  }
})
