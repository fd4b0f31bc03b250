/** Finds every place in sql/ that takes a lock: a clause of a query, a statement, or a call. */

import { readSqlFiles } from '../../../supabase/local/schema/migration.ts'

const LOCKS = [
  /\bfor\s+(?:no\s+key\s+update|key\s+share|update|share)(?:\s+of\s+\w+)?(?:\s+(?:skip\s+locked|nowait))?/,
  /\block\s+table\s+(?:only\s+)?[\w.%]+/,
  /\bpg_(?:try_)?advisory_\w+(?=\()/,
  /\boutbox\.(?:try_)?lock_\w+(?=\()/,
]
const LOCK = new RegExp(LOCKS.map((one) => one.source).join('|'), 'g')
const OWNER = /^create (?:or replace )?(?:function outbox\.|trigger )(\w+)/gm

/** The text without comments, in which each place is where it was; a definition is no call of itself. */
function statements(text: string): string {
  const blank = (found: string): string => found.replace(/[^\n]/g, ' ')
  return text
    .replace(/--.*$/gm, blank)
    .replace(/^comment on [^;]*(?:'(?:[^']|'')*'[^;]*)*;/gm, blank)
    .replace(/^(create (?:or replace )?function outbox\.\w+)\(/gm, '$1 ')
}

/** A place that takes a lock, from `start` to before `end` in its file. */
export interface LockSite {
  name: string
  start: number
  end: number
}

/**
 * Lists the locks of one file, each named `<file> <function or trigger>: <lock>`. The second of two that
 * are spelled alike in one function ends in ` (2)`.
 */
export function lockSitesOf(file: string, text: string): LockSite[] {
  const clean = statements(text)
  const owners = [...clean.matchAll(OWNER)]
  const seen = new Map<string, number>()
  return [...clean.matchAll(LOCK)].map(({ 0: lock, index }) => {
    const owner = owners.findLast((one) => one.index < index)?.[1] ?? 'no function'
    const name = `${file} ${owner}: ${lock.replace(/\s+/g, ' ').replace('outbox.', '')}`
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return {
      name: count === 1 ? name : `${name} (${count})`,
      start: index,
      end: index + lock.length,
    }
  })
}

/** The names of the locks of every file of the schema, in the order in which the files are applied. */
export async function lockSites(root: string): Promise<string[]> {
  const files = await readSqlFiles(root)
  return files.flatMap(({ path, text }) =>
    lockSitesOf(path.replace(/^sql\//, ''), text).map(({ name }) => name)
  )
}
