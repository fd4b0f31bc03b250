/** How an app styles the portal: by the variables and the parts that the page about it lists, and by nothing else. */

import { expect } from '@std/expect'
import type { Locator } from 'playwright-core'
import { projectFiles, readProjectFile } from '../project/_tracked.ts'
import { startPortal, type TestPortal } from './_support/portal.ts'

let portal_: TestPortal

Deno.test.beforeAll(async () => {
  portal_ = await startPortal()
})
Deno.test.afterAll(async () => {
  await portal_?.stop()
})

/** A computed property of an element. */
async function styleOf(target: Locator, property: string): Promise<string> {
  return await target.first().evaluate((element, name) => {
    // SAFETY: every browser has it, and the types of Deno have not.
    const { getComputedStyle } = globalThis as unknown as {
      getComputedStyle(of: unknown): { getPropertyValue(name: string): string }
    }
    return getComputedStyle(element).getPropertyValue(name)
  }, property)
}

Deno.test('the variables and parts style the element, and the style of the app does not reach it', async () => {
  const org = 'theming'
  await portal_.outhook.createEndpoint('/themed', { p_event_types: ['a.*'], p_org_id: org })
  const { portal, errors, close } = await portal_.open(org)
  const add = portal.getByRole('button', { name: 'Add endpoint' })
  const table = portal.getByRole('table')
  await table.waitFor()
  // The sample app gives all buttons a padding of 40 px and hides all tables.
  expect(await styleOf(add, 'padding-top')).not.toBe('40px')
  expect(await styleOf(table, 'display')).toBe('table')
  expect(await styleOf(table, 'font-variant-numeric')).toBe('tabular-nums')
  const accent = 'rgb(35, 71, 168)'
  expect(await styleOf(add, 'background-color')).toBe(accent)
  await portal.evaluate((element) => {
    element.setAttribute('class', 'themed')
  })
  const found = {
    accent: await styleOf(add, 'background-color'),
    background: await styleOf(portal, 'background-color'),
    radius: await styleOf(portal.locator('.table-box'), 'border-top-left-radius'),
    font: await styleOf(portal.locator('.portal'), 'font-family'),
  }
  expect(found).toEqual({
    ...{ accent: 'rgb(1, 2, 3)', background: 'rgb(4, 5, 6)' },
    ...{ radius: '12px', font: 'monospace' },
  })
  expect(errors).toEqual([])
  await close()
})

Deno.test('each variable and part of the page about the portal is there, and no other variable', async () => {
  const page = await readProjectFile('docs/portal.md') ?? ''
  const style = await readProjectFile('portal/element/portal.css') ?? ''
  const [, section = ''] = page.split('## Make it look like your app')
  const named = new Set(section.split('\n## ')[0]?.match(/--outhook-[a-z-]+/g))
  expect([...named].sort()).toEqual([...new Set(style.match(/--outhook-[a-z-]+/g))].sort())
  const [, list = ''] = /outhook-portal::part\(button\)`: ([^.]*)\./.exec(section) ?? []
  const parts = [...list.matchAll(/`(\w+)`/g)].map(([, part = '']) => part)
  expect(parts.length).toBeGreaterThan(5)
  const { portal, close } = await portal_.open('theming')
  for (const part of parts.filter((one) => !['banner', 'tile', 'input'].includes(one))) {
    await portal.locator(`[part=${part}]`).first().waitFor({ state: 'attached' })
  }
  await close()
})

Deno.test('each field and each button of the element is a part, and only the parts of the page are', async () => {
  const page = await readProjectFile('docs/portal.md') ?? ''
  const [, list = ''] = /outhook-portal::part\(button\)`: ([^.]*)\./.exec(page) ?? []
  const named = [...list.matchAll(/`(\w+)`/g)].map(([, part = '']) => part)
  const used = new Set<string>()
  const bare: string[] = []
  for (const file of await projectFiles()) {
    if (!/^portal\/element\/.*\.tsx$/.test(file)) continue
    const text = await readProjectFile(file) ?? ''
    for (const [, part = ''] of text.matchAll(/\bpart(?:=|: )'(\w+)'/g)) used.add(part)
    // An arrow in an attribute ends no tag.
    for (const [tag] of text.matchAll(/<(?:input|select|textarea|button)\b(?:=>|[^>])*>/g)) {
      // A checkbox has no look of its own; the button of go.tsx is a link, or gets its part.
      const isFree = tag.includes("type='checkbox'") || tag.includes('{...part}')
      if (!isFree && !/\spart='(?:input|button)'/.test(tag)) bare.push(`${file}: ${tag}`)
    }
  }
  expect(bare).toEqual([])
  expect([...used].sort()).toEqual(named.sort())
})
