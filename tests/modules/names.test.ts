/** No module names a function, table, view, type or sequence of a module that it does not need. */

import { expect } from '@std/expect'
import { readModule } from '../../supabase/local/schema/migration.ts'
import { withNeeds } from '../../supabase/local/schema/order.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { modules } from './_support/modules.ts'

interface CodeFile {
  module: string
  path: string
  /** Without comments; the contents of strings stay, because they may be code. */
  lines: string[]
}

const files: CodeFile[] = []
for (const module of modules) {
  for (const { path, text } of await readModule(projectRoot, module)) {
    const lines = text.split('\n').map((line) => line.replace(/(^|\s)--\s.*/, ''))
    files.push({ module: module.name, path, lines })
  }
}

/** The module that creates an object first; `create or replace` in a later one is an extension. */
const owners = new Map<string, string>()
for (const { module, lines } of files) {
  const created =
    /\bcreate (?:or replace )?(?:unlogged )?(?:function|table|view|type|sequence) outbox\.(\w+)/g
  for (const [, name = ''] of lines.join('\n').matchAll(created)) {
    if (!owners.has(name)) owners.set(name, module)
  }
}

Deno.test('the objects of each module are found', () => {
  for (const { name } of modules) {
    expect([name, [...owners.values()].includes(name)]).toEqual([name, true])
  }
  expect(owners.get('publish')).toBe('core')
  expect(owners.get('consumer_inbox')).toBe('inbox')
})

for (const module of modules) {
  Deno.test(`the code of ${module.name} names no object of a module that it does not need`, () => {
    const usable = withNeeds(modules, [module.name]).map(({ name }) => name)
    const found: string[] = []
    for (const { path, lines } of files.filter((file) => file.module === module.name)) {
      for (const [index, line] of lines.entries()) {
        for (const [, name = ''] of line.matchAll(/\boutbox\.(\w+)/g)) {
          const owner = owners.get(name)
          if (owner !== undefined && !usable.includes(owner)) {
            found.push(`${path}:${index + 1}: outbox.${name} of ${owner}`)
          }
        }
      }
    }
    expect(found).toEqual([])
  })
}

Deno.test('each extension of a function of another module is in one module only', () => {
  const extended = new Map<string, string[]>()
  for (const { module, lines } of files) {
    const replaced = lines.join('\n').matchAll(/\bcreate or replace function outbox\.(\w+)/g)
    for (const [, name = ''] of replaced) {
      extended.set(name, [...extended.get(name) ?? [], module])
    }
  }
  const several = [...extended].filter(([, by]) => by.length > 1)
  expect(several).toEqual([])
  expect([...extended].filter(([name, [by]]) => owners.get(name) === by)).toEqual([])
})
