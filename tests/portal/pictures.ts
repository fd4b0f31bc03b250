/** `deno task portal:pictures`: a picture of each view of the portal, to look at. */

import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { runCommand } from '../../supabase/local/command.ts'
import { print } from '../../supabase/local/print.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { pages } from './_support/pages.ts'
import { startPortal } from './_support/portal.ts'
import { dialogs, viewsOf } from './_support/views.ts'

const help =
  `Write a picture of each view of the portal, inside a sample app, into .outhook/portal/.

  npx -y deno@2.9.6 task portal:pictures

  --help  show this

It needs Chromium, which it installs with apt as root on Debian or Ubuntu.`

const devices = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } }

async function run(): Promise<number> {
  const folder = join(projectRoot, '.outhook', 'portal')
  await Deno.mkdir(folder, { recursive: true })
  const portal_ = await startPortal()
  try {
    const views = await viewsOf(portal_.outhook, 'pictures')
    for (const [device, viewport] of Object.entries(devices)) {
      for (const theme of ['light', 'dark'] as const) {
        const picture = async (page: Page, name: string): Promise<void> => {
          const file = `${name}-${theme}-${device}.png`
          // Behind a dialog, the page is shaded as far as the window is high.
          const fullPage = !name.endsWith('-dialog')
          await page.screenshot({ path: join(folder, file), fullPage })
          print(`wrote .outhook/portal/${file}`)
        }
        for (const { name, path, ready } of views) {
          const query = `page=${encodeURIComponent(path)}`
          const { page, portal, close } = await portal_.open('pictures', { theme, viewport, query })
          await ready(portal)
          await picture(page, name)
          const opener = dialogs[name]
          if (opener !== undefined && name !== 'endpoint') {
            await portal.getByRole('button', { name: opener, exact: true }).first().click()
            await page.getByRole('dialog').waitFor()
            await picture(page, `${name}-dialog`)
          }
          await close()
        }
        for (const { name, open } of pages) {
          const tab = await open(portal_, { theme, viewport })
          await picture(tab.page, name)
          await tab.close()
        }
      }
    }
  } finally {
    await portal_.stop()
  }
  return 0
}

export const main = (): Promise<never> => runCommand({ help, flags: {}, run })

if (import.meta.main) await main()
