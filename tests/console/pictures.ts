/** `deno task console:pictures`: a picture of each view, to look at. */

import { join } from 'node:path'
import { runCommand } from '../../supabase/local/command.ts'
import { print } from '../../supabase/local/print.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startWhatsapp } from '../_support/whatsapp.ts'
import { consoleOn, startConsole, type TestConsole } from './_support/console.ts'
import { makeMessageSample, messageViewsOf } from './_support/message_sample.ts'
import { makeSample } from './_support/sample.ts'
import { dialogsOf, type DialogView, type View, viewsOf } from './_support/views.ts'

const help = `Write a picture of each view of the console, with sample data, into .outhook/console/.

  npx -y deno@2.9.6 task console:pictures

  --help  show this

It needs Chromium, which it installs with apt as root on Debian or Ubuntu.`

const devices = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } }

async function run(): Promise<number> {
  const folder = join(projectRoot, '.outhook', 'console')
  await Deno.mkdir(folder, { recursive: true })
  const console_ = await startConsole()
  try {
    const sample = await makeSample(console_.outhook)
    await write(console_, [...viewsOf(sample), ...dialogsOf(sample).map(viewOf)], folder)
  } finally {
    await console_.stop()
  }
  const wa = await startWhatsapp()
  const withMessages = await consoleOn(wa.outhook, wa.stop)
  try {
    await write(withMessages, messageViewsOf(await makeMessageSample(wa)), folder)
  } finally {
    await withMessages.stop()
  }
  return 0
}

/** A dialog as a view: it is ready once it is open and has its button. */
function viewOf({ name, path, opener, label }: DialogView): View {
  return {
    ...{ name, path },
    async ready(page): Promise<void> {
      await page.getByRole('button', { name: opener }).first().click()
      await page.getByRole('dialog').getByRole('button', { name: label }).waitFor()
    },
  }
}

async function write(console_: TestConsole, views: readonly View[], folder: string): Promise<void> {
  for (const [device, viewport] of Object.entries(devices)) {
    for (const theme of ['light', 'dark'] as const) {
      const { page, close } = await console_.open('/', { theme, viewport })
      for (const { name, path, ready } of views) {
        await page.goto(console_.running.url + path)
        await ready(page)
        await page.waitForLoadState('networkidle', { timeout: 1000 }).catch(() => {})
        const file = `${name}-${theme}-${device}.png`
        // Behind a dialog, the page is shaded as far as the window is high.
        await page.screenshot({ path: join(folder, file), fullPage: !name.startsWith('dialog-') })
        print(`wrote .outhook/console/${file}`)
      }
      await close()
    }
  }
}

export const main = (): Promise<never> => runCommand({ help, flags: {}, run })

if (import.meta.main) await main()
