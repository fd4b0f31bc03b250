/**
 * What only `task test --all` runs: files that take long and whose failure a file of the short run
 * would most likely show too.
 */

import { concurrencyBehind } from './behind_all/concurrency.ts'
import { e2eBehind } from './behind_all/e2e.ts'
import { packageBehind } from './behind_all/package.ts'
import { pagesBehind } from './behind_all/pages.ts'
import { projectBehind } from './behind_all/project.ts'
import { sqlBehind } from './behind_all/sql.ts'
import type { Behind } from './behind_all/behind.ts'

/** All entries; those of one area stand in a file of `behind_all/`. */
export const behindAll: readonly Behind[] = [
  ...sqlBehind,
  ...concurrencyBehind,
  ...e2eBehind,
  ...packageBehind,
  ...pagesBehind,
  ...projectBehind,
]

const files = new Set(behindAll.map(({ file }) => file))

/** Whether only `--all`, or a word that selects it, runs the file. */
export function waitsForAll(file: string): boolean {
  return files.has(file)
}
