import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe-core finds on a page, a line for each element. */
export async function findingsOf(page: Page): Promise<string[]> {
  // Not by a script element, which the policy of the page refuses.
  await page.evaluate(axe.source)
  return await page.evaluate(async () => {
    // SAFETY: the line above has defined it.
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
    }
    const { violations } = await axe.run()
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  })
}
