import { join } from 'node:path'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { runDenoTest } from './deno_test.ts'
import { type Mutant, mutate, namedTest } from './mutant.ts'
import { judge, type TestOutcome, type Verdict } from './outcome.ts'
import { runPgTap } from './pg_tap.ts'
import { changedStatements } from './statements.ts'
import type { Tree } from './tree.ts'

/** A migration after all others, by which a copy's databases get the change. */
const migration = 'supabase/migrations/29991231000000_mutant.sql'
const baselineMs = 300_000

/** Where mutants are tried: a copy of the project, and a database that has its schema. */
export interface Bench {
  try(mutant: Mutant): Promise<Verdict>
}

/** How each test goes without a mutant, as far as somebody has asked. */
export type Baseline = Map<string, Promise<TestOutcome>>

/** Makes a bench of a copy and a database of its own; benches beside each other share a baseline. */
export function makeBench(tree: Tree, pg: Postgres, baseline: Baseline): Bench {
  return { try: tryMutant }

  async function tryMutant(mutant: Mutant): Promise<Verdict> {
    const before = await Deno.readTextFile(join(tree.root, mutant.file))
    const after = mutate(before, mutant)
    if (!after.ok) return { kind: 'error', reason: after.reason }
    const isSql = mutant.file.endsWith('.sql')
    const statements = isSql ? mutant.sql ?? changedStatements(before, after.text) : ''
    if (statements === null) {
      return { kind: 'error', reason: 'a database with the schema does not take it: give `sql`' }
    }
    // A schema that cannot be built fails every test, and says nothing of them.
    const { code, stderr } = await pg.psql(`begin;\n${statements}\nrollback;\n`)
    if (code !== 0) return { kind: 'error', reason: stderr }
    const files = new Map([[mutant.file, after.text]])
    if (isSql) files.set(migration, statements)
    const verdict = await judge(mutant.tests, {
      without,
      with: async (entry, ms) => {
        const putBack = await tree.change(files)
        try {
          return await runTest(entry, statements, ms)
        } finally {
          await putBack()
        }
      },
    })
    if (mutant.equivalent === undefined) return verdict
    if (verdict.kind === 'survived') return { kind: 'equivalent' }
    if (!('by' in verdict)) return verdict
    return { kind: 'error', reason: `it is not equivalent: ${verdict.by} notices it` }
  }

  function without(entry: string): Promise<TestOutcome> {
    const known = baseline.get(entry) ?? runTest(entry, '', baselineMs)
    baseline.set(entry, known)
    return known
  }

  async function runTest(entry: string, statements: string, ms: number): Promise<TestOutcome> {
    const { path, words } = namedTest(entry)
    if (path.endsWith('.sql')) {
      return await runPgTap(pg, { file: join(tree.root, path), statements, limitMs: ms })
    }
    return await runDenoTest(tree.root, { path, words, limitMs: ms })
  }
}
