import { expect } from '@std/expect'
import { readProjectFile } from '../../project/_tracked.ts'

function names(text: string): string[] {
  return [...new Set([...text.matchAll(/'(outhook-[a-z-]+)'/g)].map(([, name = '']) => name))]
    .sort()
}

Deno.test('uninstall removes the jobs of outbox.job_names(), and no other', async () => {
  const ours = names(await readProjectFile('sql/foundation/job_names.sql'))
  expect(ours.length).toBe(5)
  for (const file of ['stop_jobs', 'remove']) {
    const text = await readProjectFile(`package/command/uninstall/${file}.sql`)
    expect([file, names(text)]).toEqual([file, ours])
  }
})
