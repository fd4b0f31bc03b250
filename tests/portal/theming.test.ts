/** How an app styles the portal: by the variables and the parts that the page about it lists, and by nothing else. */

import { expect } from '@std/expect'
import type { Locator } from 'playwright-core'
import { readProjectFile } from '../project/_tracked.ts'
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
    expect([part, await portal.locator(`[part=${part}]`).count() > 0]).toEqual([part, true])
  }
  await portal.getByRole('button', { name: 'Add endpoint' }).click()
  await portal.getByLabel('URL', { exact: true }).waitFor()
  // Each field, of whatever kind, is the same part.
  const bare = portal.locator('input:not([type=checkbox]):not([part]), select:not([part])')
  expect(await bare.count()).toBe(0)
  expect(await portal.locator('button:not([part]):not(.plain):not(.link):not(.tab)').count()).toBe(
    0,
  )
  await close()
})
