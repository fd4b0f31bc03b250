import { expect } from '@std/expect'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { listFiles } from '../_run/files.ts'

interface FunctionEntry {
  verify_jwt?: unknown
  entrypoint?: unknown
  import_map?: unknown
}

const text = await Deno.readTextFile(join(projectRoot, 'supabase/config.toml'))
// SAFETY: only the fields read below are relied on, and each is compared with what it must be.
const config = parse(text) as unknown as {
  project_id: unknown
  api: { schemas: unknown; port: unknown }
  db: { major_version: unknown; port: unknown }
  functions: Record<string, FunctionEntry>
}

Deno.test('config.toml exposes the schema outbox on the ports of the CLI', () => {
  expect(config.project_id).toBe('outhook')
  expect(config.api.schemas).toEqual(['public', 'outbox'])
  expect([config.api.port, config.db.port]).toEqual([54321, 54322])
  expect(config.db.major_version).toBe(17)
})

for (const [name, entry] of Object.entries(config.functions)) {
  Deno.test(`config.toml says of function ${name} all that the CLI would otherwise guess`, async () => {
    // An undeclared value is not sent by the CLI, so the platform keeps what it had.
    expect(typeof entry.verify_jwt).toBe('boolean')
    expect(entry.entrypoint).toBe(`../functions/${name}/index.ts`)
    expect(entry.import_map).toBe('../deno.json')
    const info = await Deno.stat(join(projectRoot, 'supabase', String(entry.entrypoint)))
    expect(info.isFile).toBe(true)
  })
}

Deno.test('config.toml names every function that has an index.ts', async () => {
  const entrypoints = (await listFiles(projectRoot, 'functions', '/index.ts'))
    .map((path) => path.split('/'))
    .filter((parts) => parts.length === 3)
    .map(([, name]) => name)
  expect(Object.keys(config.functions).sort()).toEqual(entrypoints)
})

Deno.test('functions/ holds no configuration that would shadow the one of the root', async () => {
  const found = await Promise.all(
    ['deno.json', 'deno.jsonc', 'deno.lock', 'import_map.json', 'package.json'].map((name) =>
      listFiles(projectRoot, 'functions', `/${name}`)
    ),
  )
  expect(found.flat()).toEqual([])
})

Deno.test('supabase/functions is there for the CLI, and empty', async () => {
  expect(await listFiles(projectRoot, 'supabase/functions', '.gitkeep')).toHaveLength(1)
  expect(await listFiles(projectRoot, 'supabase/functions', '.ts')).toEqual([])
})
