/** The packages from a registry, in the app of somebody else: from `npm install` to `uninstall`. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { version } from '../../functions/_shared/base/version.ts'
import { buildCommand } from '../../package/build/command.ts'
import { buildFunctions } from '../../package/build/functions.ts'
import { buildPackage } from '../../package/build/package.ts'
import { buildWorker } from '../../package/build/worker.ts'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { type Stack, startStack } from '../../supabase/local/stack.ts'
import { cliVersions } from '../../supabase/local/supabase_cli.ts'
import { npmTools } from '../_run/tools.ts'
import { databaseFolder, testFolder } from '../_support/folder.ts'
import { type ManagementApi, startManagementApi } from '../_support/management_api.ts'
import { copyPrepared } from '../_support/prepared.ts'
import { docsBlock } from '../project/_docs.ts'
import { startProgram } from './_support/program.ts'
import { receives } from './_support/receives.ts'
import { type Printed, type Registry, startRegistry } from './_support/registry.ts'
import { createSampleApp } from './_support/sample_app.ts'

const root = testFolder()
const app = join(root, 'shop')
const dataDir = databaseFolder()
const ref = 'abcdefghijklmnopqrst'
const [cliVersion] = cliVersions
let registry: Registry
let platform: ManagementApi
let stack: Stack
let published: Printed

Deno.test.beforeAll(async () => {
  registry = await startRegistry(join(root, 'registry'), join(root, 'home'))
  const dist = join(root, 'dist')
  const tarballs = [(await buildPackage(projectRoot, dist)).tarball]
  tarballs.push((await buildFunctions(projectRoot, dist)).packed.tarball)
  tarballs.push((await buildWorker(projectRoot, dist)).tarball)
  tarballs.push((await buildCommand(projectRoot, dist)).tarball)
  // Before the first version is there: npm refuses to publish a version twice.
  const dryRun = docsBlock('publish-dry-run').replaceAll('<version>', version)
  published = await registry.run(['sh', '-ec', dryRun], root)
  for (const tarball of tarballs) await registry.publish(tarball)
  await createSampleApp(app, registry)
  for (
    const name of ['package-publish.mjs', 'package-node.mjs', 'package-bun.mjs', 'package-deno.ts']
  ) {
    await Deno.writeTextFile(join(app, name), docsBlock(name))
  }
  platform = await startManagementApi(join(root, 'uploads'))
})
Deno.test.afterAll(async () => {
  await stack?.stop()
  await platform?.[Symbol.asyncDispose]()
  await registry?.[Symbol.asyncDispose]()
  for (const folder of [root, dataDir]) {
    await Deno.remove(folder, { recursive: true }).catch(() => {})
  }
})

/** Runs `npx outhook …` in the app. */
async function outhook(...args: string[]): Promise<Printed> {
  const keys: Record<string, string> = stack === undefined
    ? {}
    : { SUPABASE_URL: stack.apiUrl, SUPABASE_SECRET_KEY: stack.keys.secretKey }
  const env = { ...platform.env, ...keys, SUPABASE_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }
  return await registry.run(['npx', '--no', '--', 'outhook', ...args], app, env)
}

async function ok(printed: Promise<Printed>): Promise<string> {
  const { code, stdout, stderr } = await printed
  expect([code, code === 0 ? '' : stdout + stderr]).toEqual([0, ''])
  return stdout
}

Deno.test('the command of the page on releases would publish all four packages', () => {
  const { code, stdout, stderr } = published
  expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
  expect(stdout.trim().split('\n')).toEqual(
    ['outhook', 'outhook-worker', 'outhook-functions', 'outhook-command']
      .map((name) => `+ ${name}@${version}`),
  )
})

Deno.test('npm installs the packages by their names, and npx runs the command', async () => {
  await ok(registry.run(['npm', 'install', 'outhook', 'outhook-worker'], app))
  await ok(registry.run(['npm', 'install', '--save-dev', 'outhook-command'], app))
  const installed = await Array.fromAsync(Deno.readDir(join(app, 'node_modules')))
  expect(installed.map(({ name }) => name).filter((name) => !name.startsWith('.')).sort())
    .toEqual(['outhook', 'outhook-command', 'outhook-worker'])
  expect(await ok(outhook('--version'))).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect(await ok(registry.run(['npx', '--yes', '--', 'outhook-command', '--version'], root)))
    .toBe(await ok(outhook('--version')))
})

Deno.test('init adds Outhook to the app beside its own functions api and deliver', async () => {
  await ok(outhook('init', '--yes', '--modules', 'api,inbox'))
  const functions = await Array.fromAsync(Deno.readDir(join(app, 'supabase/functions')))
  expect(functions.filter(({ isDirectory }) => isDirectory).map(({ name }) => name).sort())
    .toEqual(['api', 'deliver', 'outhook-api', 'outhook-deliver'])
  expect(await ok(outhook('init', '--yes'))).toMatch(/nothing to do/i)
})

Deno.test('deploy brings it to the project, and the check finds no fault', async () => {
  // The test event and the receivers are on this machine, which a project does not allow at first.
  await Deno.copyFile(
    join(projectRoot, 'supabase/seed.sql'),
    join(app, 'supabase/migrations/20991231000000_local.sql'),
  )
  await copyPrepared(dataDir, 'platform')
  stack = await startStack({
    dataDir,
    projectDir: app,
    ports: 'free',
    migrate: false,
    fsync: false,
    ticksAtOnce: true,
    log: () => {},
  })
  platform.key = stack.keys.secretKey
  const supabase = join(await ensureTool(projectRoot, 'supabase', cliVersion), 'supabase')
  const env = { OUTHOOK_WORKER_SECRET: stack.keys.workerSecret }
  const args = ['deploy', '--project-ref', ref, '--url', stack.apiUrl, '--supabase', supabase]
  const said = await ok(registry.run(
    [
      'npx',
      '--no',
      '--',
      'outhook',
      ...args,
      '--db-url',
      `${stack.dbUrl}?sslmode=disable`,
      '--yes',
    ],
    app,
    { ...platform.env, ...env, SUPABASE_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' },
  ))
  expect(said).toMatch(/A test event was delivered \d+ ms after[\s\S]*Errors: 0, warnings: 0\n$/)
  expect(platform.deployments.map(({ slug }) => slug).sort())
    .toEqual(['outhook-api', 'outhook-deliver'])
  const own = await fetch(`${stack.apiUrl}/functions/v1/deliver`)
  expect([own.status, await own.text()]).toEqual([200, 'a parcel'])
})

const deno = [Deno.execPath(), 'run', '-A', '--cached-only', '--no-lock']

for (
  const [name, command] of [
    ['Node', ['node', 'package-node.mjs']],
    ['Deno', [...deno, 'package-deno.ts']],
    ['Bun', ['bun', 'package-bun.mjs']],
    ['Next.js', ['node', 'serve-route.mjs', 'app/webhooks/route.js']],
  ] as const
) {
  Deno.test(`the client publishes, and a receiver in ${name} verifies the webhook`, async () => {
    const bun = join(await ensureTool(projectRoot, ...npmTools.bun), 'bun')
    const program = command.map((part) => part === 'bun' ? bun : part)
    const org = `org-${name.toLowerCase().replace('.', '-')}`
    const to = { user: { path: app }, outhook: { stack }, functionName: 'outhook-api' }
    expect(await receives(to, program, org)).toBe(2)
  })
}

Deno.test('listen sends to a receiver of the app what a transaction of the app has published', async () => {
  const secret = `whsec_${btoa('z'.repeat(32))}`
  await using receiver = startProgram(['node', 'package-node.mjs'], app, {
    WEBHOOK_SECRET: secret,
    PORT: '0',
  })
  const [, origin] = await receiver.find(/Listening on (\S+)/)
  const env = {
    SUPABASE_URL: stack.apiUrl,
    SUPABASE_SECRET_KEY: stack.keys.secretKey,
    OUTHOOK_LISTEN_SECRET: secret,
  }
  const command = join(app, 'node_modules/.bin/outhook')
  const args = ['listen', '--forward', `${origin}/`, '--count', '1']
  await using listening = startProgram([command, ...args], app, env)
  await listening.find(/Forwarding to/)
  const { code, stderr } = await stack.psql(`begin;
    insert into public.orders (id, total) values (1, 49.9);
    select outbox.publish('order.paid', '{"id": 1, "total": 49.9}');
    commit`)
  expect([code, stderr]).toEqual([0, ''])
  await receiver.find(/^paid 1 49\.9$/)
  expect(await listening.ended).toBe(0)
})

Deno.test('upgrade says that there is no version before', async () => {
  const { code, stdout, stderr } = await outhook('upgrade', '--yes')
  expect([code, stdout + stderr]).toEqual([0, expect.stringMatching(/nothing to do/i)])
})

Deno.test('uninstall leaves nothing of Outhook in the database, and the app as it was', async () => {
  await ok(outhook('uninstall', '--discard', '--force', '--yes'))
  const supabase = join(await ensureTool(projectRoot, 'supabase', cliVersion), 'supabase')
  const push = [supabase, 'db', 'push', '--db-url', `${stack.dbUrl}?sslmode=disable`, '--yes']
  await ok(registry.run([...push, '--include-all'], app, { DO_NOT_TRACK: '1' }))
  const { stdout } = await stack.psql(`
    select
      (select count(*) from pg_namespace where nspname = 'outbox'),
      (select count(*) from pg_proc where prosrc ~ '\\moutbox\\.'),
      (select count(*) from cron.job where jobname like 'outhook-%'),
      (select count(*) from vault.secrets where name like 'outhook%'),
      (select count(*) from public.orders)`)
  expect(stdout).toBe('0|0|0|0|1')
  // The file with the secret of this machine stays, and so does the line that keeps it out of Git.
  const changed = await registry.run(['git', 'status', '--short', 'supabase'], app)
  expect(
    changed.stdout.split('\n').filter((line) =>
      !/_outhook_|_local\.sql$|\.gitignore$|^$/.test(line)
    ),
  )
    .toEqual([])
})
