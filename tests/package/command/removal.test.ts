import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

const read = (path: string): Promise<string> => Deno.readTextFile(join(projectRoot, path))

function names(text: string): string[] {
  return [...new Set([...text.matchAll(/'(outhook-[a-z-]+)'/g)].map(([, name = '']) => name))]
    .sort()
}

Deno.test('uninstall removes the jobs of outbox.job_names(), and no other', async () => {
  const ours = names(await read('sql/foundation/job_names.sql'))
  expect(ours.length).toBe(5)
  for (const file of ['stop_jobs', 'remove']) {
    const text = await read(`package/command/uninstall/${file}.sql`)
    expect([file, names(text)]).toEqual([file, ours])
  }
})
