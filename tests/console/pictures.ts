/** `deno task console:pictures`: a picture of each view, to look at. */

import { join } from 'node:path'
import { runCommand } from '../../supabase/local/command.ts'
import { print } from '../../supabase/local/print.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startConsole } from './_support/console.ts'
import { makeSample } from './_support/sample.ts'
import { viewsOf } from './_support/views.ts'

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
    for (const [device, viewport] of Object.entries(devices)) {
      for (const theme of ['light', 'dark'] as const) {
        const { page, close } = await console_.open('/', { theme, viewport })
        for (const { name, path, ready } of viewsOf(sample)) {
          await page.goto(console_.running.url + path)
          await ready(page)
          await page.waitForLoadState('networkidle', { timeout: 1000 }).catch(() => {})
          const file = `${name}-${theme}-${device}.png`
          await page.screenshot({ path: join(folder, file), fullPage: true })
          print(`wrote .outhook/console/${file}`)
        }
        await close()
      }
    }
  } finally {
    await console_.stop()
  }
  return 0
}

export const main = (): Promise<never> => runCommand({ help, flags: {}, run })

if (import.meta.main) await main()
