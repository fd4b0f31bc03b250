import type { Terminal } from '../terminal.ts'
import { showTable } from './table.ts'

/** Prints the first items of a list: as a table, or one JSON object for each line. */
export async function printList<Item extends object>(
  items: AsyncIterable<Item>,
  { limit, json, columns }: {
    limit: number
    json: boolean
    /** The heads with the values below them. */
    columns: readonly [head: string, value: (item: Item) => unknown][]
  },
  { print, printError }: Terminal,
): Promise<void> {
  const found: Item[] = []
  for await (const item of items) {
    if (found.length === limit) {
      printError(`There are more than ${limit}: add --limit`)
      break
    }
    found.push(item)
    if (json) print(JSON.stringify(item))
  }
  if (json) return
  if (found.length === 0) printError('There are none')
  else {
    const rows = found.map((item) => columns.map(([, value]) => value(item)))
    print(showTable(columns.map(([head]) => head), rows))
  }
}
