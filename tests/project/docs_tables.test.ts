import { expect } from '@std/expect'
import { join } from 'node:path'
import { webhookHeaders } from '../../functions/_shared/headers.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { listFiles } from '../_run/files.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent } from '../functions/samples.ts'
import { docsBlock, docsTable } from './_docs.ts'

Deno.test('the page on receivers lists the headers of a webhook, all of them and in no other words', () => {
  const sent = webhookHeaders({
    delivery: sampleDelivery(),
    event: sampleEvent({ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }),
    endpoint: sampleEndpoint(),
    timestamp: 1614265330,
    signatures: { standard: 'v1,x', simple: 'sha256=x' },
  }).filter((_, index) => index % 2 === 0)
  expect(docsTable('docs/receivers.md', 'What arrives').map(([name]) => name).sort()).toEqual(
    sent.sort(),
  )
})

Deno.test('the page of errors lists the SQLSTATEs that the schema raises', async () => {
  const raised = new Set<string>()
  for (const path of await listFiles(projectRoot, 'sql', '.sql')) {
    const text = await Deno.readTextFile(join(projectRoot, path))
    for (const [code] of text.matchAll(/\bOH\d{3}\b/g)) raised.add(code)
  }
  const listed = docsTable('docs/errors.md', 'Errors').map(([code = '']) => code)
  expect(listed.filter((code) => code.startsWith('OH'))).toEqual([...raised].sort())
})

Deno.test('the map of the code names files that are there', async () => {
  const paths = docsBlock('map').match(/\b(?:sql|functions)\/\S+/g) ?? []
  expect(paths.length).toBeGreaterThan(7)
  for (const path of paths) await Deno.stat(join(projectRoot, path))
})
