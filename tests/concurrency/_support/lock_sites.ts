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

/** The text of a file without comments; a definition does not count as a call of itself. */
function statements(text: string): string {
  return text
    .replace(/--.*$/gm, '')
    .replace(/^comment on [^;]*(?:'(?:[^']|'')*'[^;]*)*;/gm, '')
    .replace(/^(create (?:or replace )?function outbox\.\w+)\(/gm, '$1 (')
}

/**
 * Lists the locks of one file as `<file> <function or trigger>: <lock>`. The second of two that are
 * spelled alike in one function ends in ` (2)`.
 */
export function lockSitesOf(file: string, text: string): string[] {
  const clean = statements(text)
  const owners = [...clean.matchAll(OWNER)]
  const seen = new Map<string, number>()
  return [...clean.matchAll(LOCK)].map(({ 0: lock, index }) => {
    const owner = owners.findLast((one) => one.index < index)?.[1] ?? 'no function'
    const site = `${file} ${owner}: ${lock.replace(/\s+/g, ' ').replace('outbox.', '')}`
    const count = (seen.get(site) ?? 0) + 1
    seen.set(site, count)
    return count === 1 ? site : `${site} (${count})`
  })
}

/** Lists the locks of every file of the schema, in the order in which the files are applied. */
export async function lockSites(root: string): Promise<string[]> {
  const files = await readSqlFiles(root)
  return files.flatMap(({ path, text }) => lockSitesOf(path.replace(/^sql\//, ''), text))
}
