/** `outhook check` by the packed command, with each part of a project broken in turn. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import type { Finding } from '../../package/command/check/finding.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { docsBlock } from '../project/_docs.ts'
import { testFolder } from '../_support/folder.ts'
import { patienceMs } from '../_support/patience.ts'
import { builtCommand } from './_support/built.ts'
import { type ShopStack, startShop } from './_support/shop_stack.ts'
import { type Shop, shopIn } from './_support/shop.ts'

const root = testFolder()
let project: Shop
let shop: ShopStack

Deno.test.beforeAll(async () => {
  const tarball = await builtCommand(root)
  project = await shopIn(root, tarball)
  expect((await project.run('init', '--yes')).code).toBe(0)
  shop = await startShop(project)
})
Deno.test.afterAll(async () => {
  await shop?.stop()
  await Deno.remove(root, { recursive: true })
})

interface Checked {
  code: number
  /** The findings that are not ok, as `status id: finding`. */
  faults: string[]
  findings: Finding[]
}

/** Runs `outhook check --json` against the stack. */
async function check(...args: string[]): Promise<Checked> {
  return await checkWith(shop.stack.keys.secretKey, '--url', shop.stack.apiUrl, ...args)
}

async function checkWith(key: string, ...args: string[]): Promise<Checked> {
  const env = { SUPABASE_SECRET_KEY: key }
  const { code, stdout, stderr } = await project.runWith(env, 'check', '--json', ...args)
  if (stdout === '') throw new Error(`check ended with ${code}: ${stderr}`)
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  return {
    code,
    findings,
    faults: findings.filter(({ status }) => status !== 'ok')
      .map(({ status, id, finding }) => `${status} ${id}: ${finding}`),
  }
}

/** Breaks something by SQL, checks, and repairs it. */
async function broken(breaks: string, repairs: string, ...args: string[]): Promise<Checked> {
  await shop.run(breaks)
  try {
    return await check(...args)
  } finally {
    await shop.run(repairs)
  }
}

Deno.test('check finds no fault in a new project, and a test event arrives', async () => {
  const { code, faults, findings } = await check()
  // A busy machine may need more than 5 s, which is a warning.
  expect([
    code,
    faults.filter((fault) => !fault.startsWith('warning test-event: A test event was')),
  ])
    .toEqual([0, []])
  expect(findings.map(({ id }) => id)).toEqual([
    'files',
    'data-api',
    'key',
    'schema-exposed',
    'schema',
    'configured',
    'cron',
    'queue',
    'clock',
    'function-api',
    'function-deliver',
    'kicks',
    'test-event',
  ])
  expect(findings.at(-1)?.finding).toMatch(/^A test event was delivered \d+ ms after/)
  // The endpoint is deleted, and no endpoint of the project got the event.
  const { stdout } = await shop.run(
    "select count(*) filter (where status <> 'deleted'), count(*) from outbox.endpoint",
  )
  expect(stdout.trim()).toBe('0|1')
})

Deno.test('check --report writes the findings and the facts, and no secret', async () => {
  const file = join(project.path, 'report.json')
  const { stack } = shop
  const { code, stderr } = await project.runWith(
    { SUPABASE_SECRET_KEY: stack.keys.secretKey, SUPABASE_URL: stack.apiUrl },
    'check',
    '--no-test',
    '--report',
    file,
  )
  expect([code, stderr]).toEqual([0, `The report is in ${file}. Read it before you share it\n`])
  const text = await Deno.readTextFile(file)
  const report = JSON.parse(text)
  expect(report.findings.length).toBeGreaterThan(10)
  expect(report.facts.modules).toEqual(['core', 'api'])
  expect(report.machine.node).toMatch(/^\d+\./)
  for (const secret of [stack.keys.secretKey, stack.keys.workerSecret, stack.keys.serviceRoleKey]) {
    expect(text).not.toContain(secret)
  }
})

Deno.test('the statement of the page returns the facts', async () => {
  const { stdout } = await shop.run(docsBlock('check-installation'))
  expect(JSON.parse(stdout)).toMatchObject({ modules: ['core', 'api'], test: null })
})

/** A run that is alive would send the test event without a kick. */
async function endRuns(): Promise<void> {
  await shop.run("select outbox.set_setting('worker.enabled', 'false')")
  const areGone = async (): Promise<boolean> =>
    (await shop.run('select count(*) from outbox.run where ended_at is null')).stdout.trim() === '0'
  expect(await waitUntil(areGone, { timeoutMs: patienceMs })).toBe(true)
  await shop.run("select outbox.set_setting('worker.enabled', 'true')")
}

Deno.test('check finds another worker secret', async () => {
  await endRuns()
  const { code, faults } = await broken(
    shop.configure('outhook-deliver', 'x'.repeat(40)),
    shop.configure('outhook-deliver'),
    '--timeout',
    '5',
  )
  expect(code).toBe(5)
  expect(faults.slice(0, 1)).toEqual([
    'error kicks: The function refuses kicks: its secret is not that of the database, or the ' +
    'clocks differ by more than 300 s',
  ])
  expect(faults.at(-1)).toBe('error test-event: The test event was not sent within 5 s')
})

Deno.test('check finds that the database calls a function that is not there, or another one', async () => {
  const missing = await broken(shop.configure('outhook-none'), shop.configure('outhook-deliver'))
  expect(missing.code).toBe(5)
  expect(missing.faults).toContain('error function-deliver: There is no function outhook-none')
  expect(missing.faults.at(-1)).toMatch(/^skipped test-event: No test event was sent/)
  // The function deliver of the project itself.
  const other = await broken(shop.configure(''), shop.configure('outhook-deliver'))
  expect(other.faults).toContain(
    'error function-deliver: The function deliver responded 200: not as Outhook does',
  )
})

Deno.test('check finds that nothing is configured', async () => {
  const { code, faults } = await broken(
    "delete from vault.secrets where name like 'outhook\\_%'",
    shop.configure('outhook-deliver'),
  )
  expect(code).toBe(5)
  expect(faults.slice(0, 1)).toEqual([
    'error configured: The database does not know the URL of the function and the worker secret',
  ])
})

Deno.test('check finds a job that is switched off, and one that is missing', async () => {
  const off = await broken(
    "select cron.alter_job(jobid, active => false) from cron.job where jobname = 'outhook-cleanup'",
    "select cron.alter_job(jobid, active => true) from cron.job where jobname = 'outhook-cleanup'",
    '--no-test',
  )
  expect([off.code, off.faults[0]]).toEqual([
    5,
    'error cron: The job outhook-cleanup is switched off',
  ])
  const rename = (from: string, to: string): Promise<unknown> =>
    shop.stack.psql(`update cron.job set jobname = '${to}' where jobname = '${from}'`, {
      as: 'supabase_admin',
    })
  await rename('outhook-vacuum', 'mine')
  const missing = await check('--no-test')
  await rename('mine', 'outhook-vacuum')
  expect(missing.faults[0]).toBe('error cron: pg_cron has no job outhook-vacuum')
})

Deno.test('check finds that delivery is switched off', async () => {
  const { code, faults } = await broken(
    "select outbox.set_setting('worker.enabled', 'false')",
    "select outbox.set_setting('worker.enabled', 'true')",
    '--timeout',
    '2',
  )
  expect(code).toBe(5)
  expect(faults).toContain('error queue-problem: Delivery is switched off')
  expect(faults.at(-1)).toBe('error test-event: The test event was not sent within 2 s')
})

Deno.test('check finds a wrong key, a key with too few rights, and a wrong URL', async () => {
  const { apiUrl, keys } = shop.stack
  const wrong = await checkWith('sb_secret_wrong', '--url', apiUrl)
  expect([wrong.code, wrong.faults[0]]).toEqual([5, expect.stringMatching(/^error key: /)])
  const anon = await checkWith(keys.anonKey, '--url', apiUrl)
  expect(anon.faults[0]).toMatch(/^error key: /)
  const closed = await checkWith(keys.secretKey, '--url', 'http://127.0.0.1:9')
  expect(closed.faults[0]).toMatch(/^error data-api: The project does not respond: /)
  const legacy = await checkWith(keys.serviceRoleKey, '--url', apiUrl, '--no-test')
  expect(legacy.code).toBe(0)
})

Deno.test('check finds that the schema of an older version has no such function', async () => {
  const { code, faults } = await broken(
    'alter function outbox.check_installation rename to check_older',
    'alter function outbox.check_older rename to check_installation',
  )
  expect([code, faults[0]]).toEqual([
    5,
    'error schema: The database has no function outbox.check_installation: Outhook is not ' +
    'installed, or older than this command',
  ])
})

Deno.test('status prints the versions, the queue, and the modules that are not applied', async () => {
  const env = { SUPABASE_SECRET_KEY: shop.stack.keys.secretKey, SUPABASE_URL: shop.stack.apiUrl }
  const { code, stdout, stderr } = await project.runWith(env, 'status')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^modules +core, api$/m)
  expect(stdout).toMatch(/^open deliveries +0, 0 of them in flight$/m)
  expect(stdout).toMatch(
    /^files +Outhook \d+\.\d+\.\d+: core, api; functions outhook-api, outhook-deliver$/m,
  )
  expect(stdout).not.toMatch(/^not applied/m)
  await project.commit()
  expect((await project.run('init', '--yes', '--modules', 'inbox')).code).toBe(0)
  const more = await project.runWith(env, 'status', '--json')
  expect(JSON.parse(more.stdout)).toMatchObject({
    notApplied: ['inbox'],
    functionsUrl: `${shop.stack.apiUrl}/functions/v1/outhook-deliver`,
    files: { modules: ['core', 'api', 'inbox'] },
  })
  expect(await project.runWith({ ...env, SUPABASE_SECRET_KEY: 'x' }, 'status'))
    .toMatchObject({ code: 1, stderr: expect.stringMatching(/outhook check says what to do/) })
  expect((await project.run('status')).code).toBe(2)
})

Deno.test('check finds a changed migration', async () => {
  const migrations = join(project.path, 'supabase/migrations')
  const names = [...Deno.readDirSync(migrations)].map(({ name }) => name)
  const file = join(migrations, names.find((name) => name.includes('_outhook_api_')) ?? '')
  const text = await Deno.readTextFile(file)
  await Deno.writeTextFile(file, `${text}drop view outbox.queue_health;\n`)
  const { code, faults } = await check('--no-test')
  await Deno.writeTextFile(file, text)
  expect([code, faults[0]]).toEqual([0, expect.stringMatching(/^warning files: .* was changed/)])
})

Deno.test('check refuses wrong options with an example', async () => {
  const rows: [env: Record<string, string>, args: string[], says: RegExp][] = [
    [{}, [], /There is no project: add --project-ref.*Example: outhook check/],
    [{}, ['--project-ref', 'shop'], /--project-ref takes the 20 letters/],
    [{}, ['--project-ref', 'a'.repeat(20), '--url', 'http://x.test'], /give one of them/],
    [{}, ['--url', 'shop'], /is not valid/],
    [{}, ['--url', 'http://x.test'], /set SUPABASE_SECRET_KEY/],
    [{}, ['--url', 'http://x.test', '--timeout', '0'], /whole seconds from 1 to 600/],
  ]
  for (const [env, args, says] of rows) {
    const { code, stderr } = await project.runWith(env, 'check', ...args)
    expect([args, code, stderr]).toEqual([args, 2, expect.stringMatching(says)])
  }
})

Deno.test('check finds that the schema is not exposed', async () => {
  const path = join(project.path, 'supabase/config.toml')
  const text = await Deno.readTextFile(path)
  await Deno.writeTextFile(path, text.replace('["public", "outbox"]', '["public"]'))
  await shop.restart()
  const { code, faults } = await check()
  await Deno.writeTextFile(path, text)
  expect(code).toBe(5)
  expect(faults.slice(0, 2)).toEqual([
    'error schema-exposed: The schema outbox is not exposed, so no function can reach the database',
    'skipped database: The database was not checked, because it could not be read',
  ])
})
