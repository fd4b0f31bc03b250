import { SetupError } from '../errors.ts'
import type { Postgres } from '../postgres/mod.ts'
import { dumpSchema, splitDump } from './dump.ts'

/** The parts of a database that are compared: `kind object` → its value as text. */
export type Snapshot = Map<string, string>

const factsUrl = new URL('./facts.sql', import.meta.url)

/**
 * Takes a snapshot of a database: the objects of a dump, and from the catalogue grants, storage options,
 * comments, pg_cron jobs and installed rows.
 */
export async function takeSnapshot(pg: Postgres): Promise<Snapshot> {
  const snapshot: Snapshot = new Map()
  for (const [object, text] of splitDump(await dumpSchema(pg))) {
    snapshot.set(`dump ${object}`, text)
  }
  const { code, stdout, stderr } = await pg.psql(await Deno.readTextFile(factsUrl), {
    as: 'supabase_admin',
  })
  if (code !== 0) throw new SetupError(`Cannot read the catalogue:\n${stderr}`)
  for (const line of stdout.split('\n')) {
    const [kind, object, value = ''] = line.split('\t')
    snapshot.set(`${kind} ${object}`, value)
  }
  return snapshot
}

/** The differences between two snapshots, one sentence each; `nameA` and `nameB` name the snapshots. */
export function compareSnapshots(
  [nameA, a]: readonly [string, Snapshot],
  [nameB, b]: readonly [string, Snapshot],
): string[] {
  const differences: string[] = []
  for (const key of [...new Set([...a.keys(), ...b.keys()])].sort()) {
    const [inA, inB] = [a.get(key), b.get(key)]
    if (inA === inB) continue
    if (inA === undefined) differences.push(`${key}: only in ${nameB}`)
    else if (inB === undefined) differences.push(`${key}: only in ${nameA}`)
    else differences.push(`${key}: differs\n${firstDifference([nameA, inA], [nameB, inB])}`)
  }
  return differences
}

function firstDifference(
  [nameA, a]: readonly [string, string],
  [nameB, b]: readonly [string, string],
): string {
  const [linesA, linesB] = [a.split('\n'), b.split('\n')]
  const at = linesA.findIndex((line, index) => line !== linesB[index])
  const index = at === -1 ? linesA.length : at
  return `  ${nameA}: ${linesA[index] ?? '(ends here)'}\n  ${nameB}: ${
    linesB[index] ?? '(ends here)'
  }`
}
