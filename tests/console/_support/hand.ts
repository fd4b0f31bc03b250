import { expect } from '@std/expect'
import type { Locator, Page } from 'playwright-core'
import { print } from '../../../supabase/local/print.ts'

/** What a person does with a page: each click, each field that is filled and each key is one action. */
export interface Hand {
  click(target: Locator): Promise<void>
  type(field: Locator, text: string): Promise<void>
  press(key: string): Promise<void>
  /** Prints how many actions a task took, and for how long, and expects at most so many. */
  done(task: string, most: number): void
}

export function handOn(page: Page): Hand {
  let actions = 0
  const start = performance.now()
  return {
    async click(target): Promise<void> {
      actions++
      await target.click()
    },
    async type(field, text): Promise<void> {
      actions++
      await field.pressSequentially(text)
    },
    async press(key): Promise<void> {
      actions++
      await page.keyboard.press(key)
    },
    done(task, most): void {
      const seconds = ((performance.now() - start) / 1000).toFixed(1)
      print(`${task}: ${actions} actions, ${seconds} s`)
      expect([task, actions <= most, actions]).toEqual([task, true, actions])
    },
  }
}
