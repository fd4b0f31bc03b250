/** `outhook deploy` by the packed command, with the Supabase CLI, a Postgres, and a stand-in of the platform. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { exposeSchema } from '../../package/command/deploy/expose.ts'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { type Stack, startStack } from '../../supabase/local/stack.ts'
import { cliVersions } from '../../supabase/local/supabase_cli.ts'
import { databaseFolder, testFolder } from '../_support/folder.ts'
import { type ManagementApi, startManagementApi } from '../_support/management_api.ts'
import { copyPrepared } from '../_support/prepared.ts'
import { builtCommand } from './_support/built.ts'
import { type Ended, type Shop, shopIn } from './_support/shop.ts'

const root = testFolder()
const dataDir = databaseFolder()
const ref = 'abcdefghijklmnopqrst'
let project: Shop
let stack: Stack
let platform: ManagementApi

Deno.test.beforeAll(async () => {
  const tarball = await builtCommand(root)
  project = await shopIn(root, tarball)
  expect((await project.run('init', '--yes')).code).toBe(0)
  // The test event goes to this machine, which a project does not allow at first.
  await Deno.copyFile(
    join(projectRoot, 'supabase/seed.sql'),
    join(project.path, 'supabase/migrations/20991231000000_local.sql'),
  )
  await copyPrepared(dataDir, 'platform')
  stack = await startStack({
    dataDir,
    projectDir: project.path,
    ports: 'free',
    migrate: false,
    fsync: false,
    log: () => {},
  })
  platform = await startManagementApi(join(root, 'uploads'))
  platform.key = stack.keys.secretKey
})
Deno.test.afterAll(async () => {
  await platform?.[Symbol.asyncDispose]()
  await stack?.stop()
  for (const folder of [root, dataDir]) await Deno.remove(folder, { recursive: true })
})

/** Runs `outhook deploy` with this version of the CLI; `env` is added to that of the platform. */
async function deploy(
  version: string,
  env: Record<string, string>,
  ...args: string[]
): Promise<Ended> {
  const program = join(await ensureTool(projectRoot, 'supabase', version), 'supabase')
  return await project.runWith(
    { ...platform.env, HOME: root, SUPABASE_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', ...env },
    'deploy',
    '--project-ref',
    ref,
    '--db-url',
    `${stack.dbUrl}?sslmode=disable`,
    '--url',
    stack.apiUrl,
    '--supabase',
    program,
    ...args,
  )
}

const [cli2, cli3] = cliVersions

Deno.test('deploy --dry-run prints the commands without a password, and changes nothing', async () => {
  const { code, stdout } = await deploy(cli2, {}, '--dry-run')
  expect(code).toBe(0)
  expect(stdout).toContain("supabase db push --db-url 'postgresql://…@127.0.0.1:")
  expect(stdout).toContain(
    `supabase functions deploy outhook-api outhook-deliver --use-api --project-ref ${ref}`,
  )
  expect(stdout).not.toContain('postgres:postgres')
  const newer = await deploy(cli3, {}, '--dry-run')
  expect(newer.stdout).toContain(
    `supabase secrets set --env-file secrets.env --remote=${ref} --yes`,
  )
  expect([platform.deployments, [...platform.secrets]]).toEqual([[], []])
})

Deno.test('deploy writes nothing without a confirmation', async () => {
  const { code, stderr } = await deploy(cli2, {})
  expect([code, stderr]).toEqual([3, 'Nothing was deployed: confirm it with --yes\n'])
})

Deno.test('deploy continues after an interruption, and the check finds no fault', async () => {
  const env = { OUTHOOK_WORKER_SECRET: stack.keys.workerSecret }
  platform.refuses = true
  const first = await deploy(cli2, env, '--yes')
  platform.refuses = false
  expect([first.code, first.stderr]).toEqual([1, expect.stringMatching(/run outhook deploy again/)])
  expect(first.stderr).toContain('3 of 5: functions')
  expect(platform.secrets.size).toBe(0)

  const { code, stdout, stderr } = await deploy(cli2, env, '--yes')
  expect([code, code === 0 ? '' : stdout + stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/A test event was delivered \d+ ms after/)
  expect(stdout).toMatch(/Errors: 0, warnings: 0\n$/)
  expect(platform.deployments.map(({ slug }) => slug).sort())
    .toEqual(['outhook-api', 'outhook-deliver'])
  expect([...platform.secrets]).toEqual([['OUTHOOK_WORKER_SECRET', stack.keys.workerSecret]])
  for (const secret of [stack.keys.workerSecret, stack.keys.secretKey]) {
    expect(stdout + stderr).not.toContain(secret)
  }
})

Deno.test('deploy with the newer CLI keeps the secret of a project that works', async () => {
  const { code, stdout, stderr } = await deploy(cli3, {}, '--yes', '--json')
  expect([code, code === 0 ? '' : stdout + stderr]).toEqual([0, ''])
  expect(stderr).toContain('The functions and the database have a secret, and the URL is right')
  expect(JSON.parse(stdout).findings.at(-1)).toMatchObject({ id: 'test-event', status: 'ok' })
  expect(platform.secrets.get('OUTHOOK_WORKER_SECRET')).toBe(stack.keys.workerSecret)
})

Deno.test('deploy creates a secret for both sides if the database has none', async () => {
  await stack.psql("delete from vault.secrets where name like 'outhook\\_%'")
  const { code, stdout } = await deploy(cli3, {}, '--yes')
  const secret = platform.secrets.get('OUTHOOK_WORKER_SECRET') ?? ''
  expect(secret).toMatch(/^[0-9a-f]{64}$/)
  const stored = await stack.psql(
    "select decrypted_secret from vault.decrypted_secrets where name = 'outhook_worker_secret'",
  )
  expect(stored.stdout).toBe(secret)
  // The function of the stack still has the old one, and the check says so.
  expect([code, stdout]).toEqual([5, expect.stringContaining('The function refuses kicks')])
})

Deno.test('the packed command has the statements of migrate-from', async () => {
  const program = join(await ensureTool(projectRoot, 'supabase', cli3), 'supabase')
  const { code, stdout, stderr } = await project.runWith(
    { HOME: root, SUPABASE_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' },
    ...['migrate-from', 'database-webhooks', '--supabase', program],
    ...['--db-url', `${stack.dbUrl}?sslmode=disable`],
  )
  // The project has not installed the module watch.
  expect([code, stdout, stderr])
    .toEqual([1, '', expect.stringContaining('run outhook init --modules watch')])
})

Deno.test('deploy refuses wrong options, a folder without Outhook, and a missing CLI', async () => {
  const rows: [args: string[], code: number, says: RegExp][] = [
    [[], 2, /There is no project.*Example: outhook deploy/],
    [['--project-ref', 'shop'], 2, /--project-ref takes/],
    [['--db-url', 'postgres://x'], 2, /add --url, and set OUTHOOK_WORKER_SECRET/],
    [['--project-ref', ref, '--db-url', 'x'], 2, /--db-url takes a connection string/],
    [['--project-ref', ref, '--project', 'none'], 1, /run outhook init first/],
    [['--project-ref', ref, '--supabase', './none'], 1, /cannot be started.*--supabase/],
    [
      ['--project-ref', ref, '--supabase', '/bin/true'],
      1,
      /is not the Supabase CLI in version 2\.117 or 3/,
    ],
  ]
  for (const [args, code, says] of rows) {
    const ended = await project.run('deploy', ...args)
    expect([args, ended.code, ended.stderr]).toEqual([args, code, expect.stringMatching(says)])
  }
  for (const secret of ['a$HOME', 'a#b', 'a\nSUPABASE_URL=x', 'a b', '"a"']) {
    const ended = await project.runWith(
      { OUTHOOK_WORKER_SECRET: secret },
      ...['deploy', '--project-ref', ref],
    )
    expect([secret, ended.code, ended.stderr])
      .toEqual([secret, 2, expect.stringMatching(/^OUTHOOK_WORKER_SECRET has a character/)])
  }
})

Deno.test('exposeSchema() adds the schema to the exposed ones, once', async () => {
  const api = platform.env['SUPABASE_API_URL'] ?? ''
  for (let times = 0; times < 2; times++) {
    expect(await exposeSchema({ api, token: 'sbp_x', projectRef: ref })).toBe(null)
    expect(platform.exposed).toBe('public, graphql_public, outbox')
  }
  expect(await exposeSchema({ api: 'http://127.0.0.1:9', token: 'sbp_x', projectRef: ref }))
    .toMatch(/\S/)
})
