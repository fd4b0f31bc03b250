import { SetupError } from '../errors.ts'
import type { Postgres } from '../postgres/mod.ts'
import { runTimePartitions } from './partitions.ts'

/**
 * Dumps the schema `outbox` with pg_dump, without differences between equal databases: partitions created
 * at run time (all except the default ones) and the dump's own markers.
 */
export async function dumpSchema(pg: Postgres): Promise<string> {
  const partitions = await runTimePartitions(pg)
  const ended = await new Deno.Command(`${pg.binaries.bin}/pg_dump`, {
    args: [
      '--schema-only',
      '--schema=outbox',
      `--dbname=${pg.adminDbUrl}`,
      ...partitions.map((name) => `--exclude-table=${name}`),
    ],
    stdin: 'null',
    stdout: 'piped',
    stderr: 'piped',
  }).output()
  if (!ended.success) {
    throw new SetupError(`Cannot dump the schema:\n${new TextDecoder().decode(ended.stderr)}`)
  }
  return normaliseDump(new TextDecoder().decode(ended.stdout))
}

/**
 * A dump without version lines, settings, random keys and repeated blank lines, in a form that is the same
 * for Postgres 15 and 17.
 */
export function normaliseDump(dump: string): string {
  const lines = inOneForm(dump).split('\n').filter((line) =>
    !/^-- (Dumped (from|by) |PostgreSQL database dump)/.test(line) &&
    !/^\\(un)?restrict /.test(line) &&
    !/^(SET |SELECT pg_catalog\.set_config)/.test(line) &&
    line !== '--'
  )
  return lines.join('\n').replace(/\n{3,}/g, '\n\n').trim() + '\n'
}

/**
 * Sets owners of views and sequences like those of tables; removes column qualifiers from views of one table
 * or of one subquery.
 */
function inOneForm(dump: string): string {
  return dump
    .replaceAll(/^ALTER (?:VIEW|SEQUENCE) (\S+ OWNER TO )/gm, 'ALTER TABLE $1')
    .replaceAll(/^CREATE VIEW [^;]*;$/gm, (view) => {
      const [, alias = null] = /\n {3}FROM [\w.]+ (\w+);$/.exec(view) ??
        /\n {3}FROM \( SELECT [^;]*\) (\w+);$/.exec(view) ?? []
      // Subqueries are indented further.
      const isOne = alias !== null && view.match(/\n {3}FROM\b/g)?.length === 1
      return isOne ? view.replaceAll(new RegExp(`\\b${alias}\\.`, 'g'), '') : view
    })
}

/** Splits a normalised dump into objects: `TABLE event` → the statements that create it. */
export function splitDump(dump: string): Map<string, string> {
  const objects = new Map<string, string>()
  for (const part of dump.split(/^(?=-- Name: )/m)) {
    const [, name = '?', type = '?'] = /^-- Name: (.*?); Type: (.*?);/.exec(part) ?? []
    const body = part.split('\n').slice(1).join('\n').trim()
    const key = `${type} ${name}`
    objects.set(key, [objects.get(key), body].filter((text) => text !== undefined).join('\n'))
  }
  return objects
}
