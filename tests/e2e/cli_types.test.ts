import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { generateTypes, typesFile } from '../../supabase/local/types.ts'
import { withMigrations } from '../_support/postgres.ts'

Deno.test(`${typesFile} is what the schema gives: else run \`deno task types\``, async () => {
  const types = await withMigrations(generateTypes)
  expect(types).toMatch(/'outbox': \{[\s\S]*'publish': \{/)
  const committed = (await Deno.readTextFile(join(projectRoot, typesFile))).split('\n')
  const drift = types.split('\n').filter((line) => !committed.includes(line))
  expect(drift).toEqual([])
  expect(committed.length).toBe(types.split('\n').length)
})
