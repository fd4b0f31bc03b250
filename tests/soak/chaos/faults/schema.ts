import { readCode } from '../../../../supabase/local/schema/upgrade_code.ts'
import { readModule } from '../../../../supabase/local/schema/migration.ts'
import { readOrder } from '../../../../supabase/local/schema/order.ts'
import { projectRoot } from '../../../../supabase/local/schema/project.ts'
import type { Family } from '../fault.ts'

/** What an upgrade does with each function: it replaces it, in one transaction with all others. */
async function replacements(): Promise<string> {
  const parts: string[] = []
  for (const module of await readOrder(projectRoot)) {
    const files = await readModule(projectRoot, module)
    parts.push(
      ...files.flatMap(readCode).filter(({ kind }) => kind === 'function')
        .map(({ replacement }) => replacement),
    )
  }
  return [...parts, 'select outbox.close_new()'].join(';\n')
}

/** The upgrade of a release, without its steps, while workers and functions run. */
export const schemaFaults: Family = {
  async 'functions replaced'({ world: { server } }): Promise<void> {
    const statements = await replacements()
    await server.tell((sql) =>
      sql.unsafe(
        `begin; set local lock_timeout = '1s'; set local role postgres; ${statements}; commit`,
      ).simple()
    )
  },
}
