/** No module names a function, table, view, type or sequence of a module that it does not need. */

import { expect } from '@std/expect'
import { withNeeds } from '../../supabase/local/schema/order.ts'
import { modules } from './_support/modules.ts'
import { files, foreignNames, owners } from './_support/names.ts'

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
    const found = files.filter((file) => file.module === module.name)
      .flatMap((file) => foreignNames(file, usable))
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
