/** Each promise of the page on reliability names its mechanism and tests that exist. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { exists } from '../../supabase/local/exists.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { faults } from '../soak/chaos/plan.ts'
import { docs, docsTable } from './_docs.ts'
import { reliabilityTables } from './_reliability.ts'

const promises = docsTable('docs/reliability.md', 'Promises').filter(([name]) => name !== 'promise')

Deno.test('each promise has a mechanism and tests', async () => {
  expect(promises.length).toBeGreaterThan(10)
  for (const [promise, mechanism, tests = ''] of promises) {
    const files = [...tests.matchAll(/tests\/[\w/.]+\.(?:ts|sql)/g)].map(([file]) => file)
    expect([promise, mechanism === '', files.length > 0]).toEqual([promise, false, true])
    for (const file of files) {
      expect([promise, file, await exists(join(projectRoot, file))]).toEqual([promise, file, true])
    }
  }
})

Deno.test('the page has the figures of the kept runs', async () => {
  const plain = (text: string): string => text.replaceAll(/ +/g, ' ').replaceAll(/-{2,}/g, '---')
  const page = plain(docs.get('docs/reliability.md') ?? '')
  for (const line of (await reliabilityTables()).split('\n')) expect(page).toContain(plain(line))
})

Deno.test('the page tells of each family of faults', () => {
  const [, text = ''] = docs.get('docs/reliability.md')?.split('## How it is tested') ?? []
  const told = {
    'postgres killed': 'Postgres is killed',
    'disk full': 'without disk space',
    'WAL full': 'write-ahead log alone',
    'worker clock ahead': 'clock of a worker jumps',
    'functions replaced': 'functions of the schema are replaced',
    'database clock ahead': 'clock of the database jumps',
    'upgraded': 'schema is upgraded to a next version',
    'connections exhausted': 'connections. One',
    'receiver silent': 'silent',
    'worker frozen beyond its leases': 'longer than their leases',
    'kicks lost': 'Kicks are',
    'vacuum full': '`vacuum full`',
    'cleanup': 'cleanup',
    'subscription edited': 'subscriptions',
  }
  for (const [kind, words] of Object.entries(told)) {
    expect([kind, Object.hasOwn(faults, kind), text.replaceAll('\n', ' ').includes(words)])
      .toEqual([kind, true, true])
  }
})
