/** `deno task start --once`: the first event, shown as it arrived, or the reason why it cannot arrive. */

import { expect } from '@std/expect'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startStack } from '../../supabase/local/stack.ts'
import { sweepTestFolders, testFolder } from '../_support/folder.ts'

let dataDir: string

Deno.test.beforeAll(async () => {
  await sweepTestFolders()
  dataDir = testFolder()
})
Deno.test.afterAll(async () => {
  await Deno.remove(dataDir, { recursive: true })
})

interface Ended {
  code: number
  stdout: string
  stderr: string
}

async function startOnce(): Promise<Ended> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ['task', '--quiet', 'start', '--once', '--free-ports', '--data-dir', dataDir],
    cwd: projectRoot,
    env: { NO_COLOR: '1' },
    stdin: 'null',
  }).output()
  const decoder = new TextDecoder()
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) }
}

/** Changes a setting in the data of an earlier start. */
async function setSetting(name: string, value: string): Promise<void> {
  const stack = await startStack({ dataDir, ports: 'free', functions: [] })
  const { stderr } = await stack.psql(`select outbox.set_setting('${name}', '${value}')`)
  await stack.stop()
  expect(stderr).toBe('')
}

for (const which of ['first', 'second'] as const) {
  Deno.test(`the ${which} start shows the request, its verification and the receipt`, async () => {
    const { code, stdout, stderr } = await startOnce()
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout.includes('migration 20260101000000 applied')).toBe(which === 'first')
    const id = stdout.match(/^ {2}webhook-id: ([0-9a-f-]{36})$/m)?.[1]
    const order = which === 'first' ? 1 : 2
    expect(stdout).toMatch(/^ {2}POST \/webhooks$/m)
    expect(stdout).toMatch(/^ {2}webhook-signature: v1,[A-Za-z0-9+/]{43}=$/m)
    expect(stdout).toMatch(/^ {2}x-attempt: 1$/m)
    expect(stdout).toContain(`{"id":"${id}","eventType":"order.paid"`)
    expect(stdout).toContain(`"data":{"id": ${order}, "total": 49.90}}`)
    expect(stdout).toContain('verified by the standardwebhooks package: the signature holds')
    expect(stdout).toMatch(/^ {2}outcome +delivered$/m)
    expect(stdout).toMatch(/^ {2}status +200$/m)
  })
}

Deno.test('a start says at once that the worker is switched off', async () => {
  await setSetting('worker.enabled', 'false')
  const { code, stderr } = await startOnce()
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Event [0-9a-f-]{36} did not arrive: the setting worker.enabled is off/)
  expect(stderr).toContain(`select outbox.set_setting('worker.enabled', 'true')`)
  await setSetting('worker.enabled', 'true')
})

Deno.test('a start shows the receipts of a delivery that has ended without success', async () => {
  await setSetting('egress.allow_cidrs', '[]')
  const { code, stderr } = await startOnce()
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^Event [0-9a-f-]{36} did not arrive: its delivery has ended without success/,
  )
  expect(stderr).toMatch(/^ {2}error_class +blocked$/m)
})
