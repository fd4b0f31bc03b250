/** `outhook init` in the project of somebody else, from the packed command to a delivery. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { createClient } from '../../package/client/mod.ts'
import { buildPackage } from '../../package/build/package.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { type Stack, startStack } from '../../supabase/local/stack.ts'
import { databaseFolder, testFolder } from '../_support/folder.ts'
import { patienceMs } from '../_support/patience.ts'
import { copyPrepared } from '../_support/prepared.ts'
import { startReceiver } from '../e2e/receiver/receiver.ts'
import { docsBlock } from '../project/_docs.ts'
import { builtCommand } from './_support/built.ts'
import { startProgram } from './_support/program.ts'
import { publishDry } from './_support/publish.ts'
import { config, type Shop, shopIn } from './_support/shop.ts'

const root = testFolder()
let tarball = ''
const shop = (): Promise<Shop> => shopIn(root, tarball)

Deno.test.beforeAll(async () => {
  tarball = await builtCommand(root)
})
Deno.test.afterAll(async () => {
  await Deno.remove(root, { recursive: true })
})

Deno.test('init --yes adds what is missing, delivers beside a function named deliver, and adds nothing twice', async () => {
  const project = await shop()
  const before = await project.files()
  const { code, stdout, stderr } = await project.run('init', '--yes')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('change supabase/config.toml: exposes the schema outbox')
  expect(stdout).toContain('npx --no outhook deploy --project-ref <ref>')
  expect(stdout).toContain("'http://kong:8000/functions/v1/outhook-deliver'")
  expect(stdout).toContain("createClient({ functionName: 'outhook-api'")
  const after = await project.files()
  const added = Object.keys(after).filter((name) => !(name in before)).sort()
  expect(added.map((name) => name.replace(/_\d+\.\d+\.\d+\.sql$/, '_<version>.sql'))).toEqual([
    'supabase/.gitignore',
    'supabase/functions/.env',
    'supabase/functions/outhook-api/THIRD_PARTY_NOTICES.txt',
    'supabase/functions/outhook-api/api.d.ts',
    'supabase/functions/outhook-api/api.js',
    'supabase/functions/outhook-api/deno.json',
    'supabase/functions/outhook-api/index.ts',
    'supabase/functions/outhook-deliver/THIRD_PARTY_NOTICES.txt',
    'supabase/functions/outhook-deliver/deliver.d.ts',
    'supabase/functions/outhook-deliver/deliver.js',
    'supabase/functions/outhook-deliver/deno.json',
    'supabase/functions/outhook-deliver/index.ts',
    // Later than the migration of the project, which is ahead of the clock.
    'supabase/migrations/20990101000001_outhook_extensions_<version>.sql',
    'supabase/migrations/20990101000002_outhook_core_<version>.sql',
    'supabase/migrations/20990101000003_outhook_api_<version>.sql',
    'supabase/migrations/20990101000004_outhook_jobs_after_api_<version>.sql',
  ])
  const changed = Object.keys(before).filter((name) => before[name] !== after[name])
  expect(changed).toEqual(['supabase/config.toml'])
  const sections = ['outhook-deliver', 'outhook-api'].map((name) =>
    `\n[functions.${name}]\nenabled = true\nverify_jwt = false\n`
  )
  expect(after['supabase/config.toml'])
    .toBe(config.replace('["public"]', '["public", "outbox"]') + sections.join(''))
  expect(after['supabase/functions/.env']).toMatch(/^OUTHOOK_WORKER_SECRET=[0-9a-f]{64}\n$/)

  // The .gitignore of `supabase init` does not have it.
  expect(after['supabase/.gitignore']).toBe('functions/.env\n')
  const secret = join(project.path, 'supabase/functions/.env')
  expect(((await Deno.stat(secret)).mode ?? 0) & 0o777).toBe(0o600)

  // Also before the changes are committed.
  expect(await project.run('init', '--yes'))
    .toEqual({ code: 0, stdout: 'Everything is there: nothing to do.\n', stderr: '' })
  expect(await project.files()).toEqual(after)
  await delivers(project)
})

/** Starts the stack on the project, and publishes an event with the client. */
async function delivers({ path }: Shop): Promise<void> {
  const dataDir = databaseFolder()
  await using defer = new AsyncDisposableStack()
  defer.defer(() => Deno.remove(dataDir, { recursive: true }))
  await copyPrepared(dataDir, 'platform')
  const log: string[] = []
  const stack = await startStack({
    dataDir,
    projectDir: path,
    ports: 'free',
    fsync: false,
    ticksAtOnce: true,
    log: (line) => log.push(line),
  })
  defer.defer(() => stack.stop())
  const receiver = startReceiver()
  defer.defer(() => receiver.close())

  const mine = await fetch(`${stack.apiUrl}/functions/v1/deliver/x`)
  expect(await mine.text()).toBe('mine /deliver/x')
  const url = `${stack.apiUrl}/functions/v1/outhook-deliver`
  // The seed of this repository allows the machine's own addresses; that of the shop does not.
  const seed = await Deno.readTextFile(join(projectRoot, 'supabase/seed.sql'))
  const { code, stderr } = await stack.psql(
    `${seed}\nselect outbox.configure('${url}', '${stack.keys.workerSecret}')`,
  )
  expect([code, stderr]).toEqual([0, ''])
  const outhook = createClient({
    url: stack.apiUrl,
    key: stack.keys.secretKey,
    functionName: 'outhook-api',
  })
  await outhook.createEndpoint({ body: { url: `${receiver.url}/shop` } })
  const { id } = await outhook.publishEvent({ body: { type: 'order.paid', payload: { id: 1 } } })
  await publishes(path, stack)
  const [request] = await receiver.waitFor(1)
  expect(request?.headers['webhook-id']).toBe(id)
  const delivered = async (): Promise<boolean> => {
    const { deliveries } = await outhook.getEvent({ path: { eventId: id } })
    return deliveries.some(({ status }) => status === 'delivered')
  }
  expect(await waitUntil(delivered, { timeoutMs: patienceMs })).toBe(true)
}

/** Runs the program of the page with the name that init gives to the function. */
async function publishes(path: string, { apiUrl, keys }: Stack): Promise<void> {
  await buildPackage(projectRoot, join(root, 'client'))
  await Deno.symlink(join(root, 'client/outhook'), join(path, 'node_modules/outhook'))
  await Deno.writeTextFile(join(path, 'publish.mjs'), docsBlock('package-publish.mjs'))
  await using program = startProgram(['node', 'publish.mjs'], path, {
    API_URL: apiUrl,
    SECRET_KEY: keys.secretKey,
    FUNCTION_NAME: 'outhook-api',
  })
  await program.ended
  expect(program.lines[0]).toMatch(/^published [0-9a-f-]{36}$/)
}

Deno.test('the command has the licences of the packages in its bundle', async () => {
  const { path } = await shop()
  const file = join(path, 'node_modules/outhook-command/THIRD_PARTY_NOTICES.txt')
  const notices = await Deno.readTextFile(file)
  for (const name of ['@clack/core', '@clack/prompts', 'commander', 'sisteransi', 'smol-toml']) {
    expect(notices).toMatch(new RegExp(`^${name} \\d[\\d.]* \\((MIT|BSD-3-Clause)\\)$`, 'm'))
  }
  expect(notices).toContain('Redistribution and use in source and binary forms')
})

Deno.test('npm publish --dry-run passes for the command', async () => {
  expect(await publishDry(tarball)).toContain('outhook-command@')
})

Deno.test('init remembers the prefix and the modules of the project', async () => {
  const project = await shop()
  const first = await project.run('init', '--yes', '--modules', '', '--prefix', 'events')
  expect(first.code).toBe(0)
  const before = await project.files()
  const functionsOf = (files: Record<string, string>): string[] =>
    Object.keys(files).filter((name) => /functions\/.+\/index\.ts$/.test(name)).sort()
  const deliver = [
    'supabase/functions/deliver/index.ts',
    'supabase/functions/events-deliver/index.ts',
  ]
  expect(functionsOf(before)).toEqual(deliver)
  // A run without a choice takes that of the first.
  expect((await project.run('init', '--yes')).stdout).toMatch(/^Everything is there/)
  await project.commit()
  const other = await project.run('init', '--yes', '--modules', 'api', '--prefix', 'outhook')
  expect([other.code, other.stderr]).toEqual([2, expect.stringMatching(/start with events/)])
  expect((await project.run('init', '--yes', '--modules', 'api')).code).toBe(0)
  const after = await project.files()
  expect(functionsOf(after))
    .toEqual([deliver[0], 'supabase/functions/events-api/index.ts', deliver[1]])
  const added = Object.keys(after).filter((name) => name.endsWith('.sql') && !(name in before))
  expect(added.map((name) => name.split('_').slice(2, -1).join('_')).sort())
    .toEqual(['api', 'jobs_after_api'])
})

Deno.test('init refuses a project that has another version', async () => {
  const project = await shop()
  expect((await project.run('init', '--yes')).code).toBe(0)
  const index = join(project.path, 'supabase/functions/outhook-deliver/index.ts')
  const text = await Deno.readTextFile(index)
  await Deno.writeTextFile(index, text.replace(/^\/\/ Outhook \d+\.\d+\.\d+/, '// Outhook 0.0.9'))
  const before = await project.files()
  const { code, stderr } = await project.run('init', '--yes', '--force', '--modules', 'inbox')
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/outhook-deliver is of Outhook 0\.0\.9/),
  ])
  expect(await project.files()).toEqual(before)
})

Deno.test('init writes nothing without a confirmation, with uncommitted changes, or with wrong options', async () => {
  const project = await shop()
  const before = await project.files()
  const refused: [args: string[], code: number, says: RegExp][] = [
    [[], 3, /add --yes/],
    [['--modules', 'none'], 2, /There is no module none/],
    [['--functions', 'none'], 2, /There is no function none/],
    [['--prefix', 'A b'], 2, /--prefix takes/],
    [['--colour'], 2, /unknown option '--colour'/],
    [['--project', 'elsewhere', '--yes'], 1, /run `supabase init`/],
  ]
  for (const [args, code, says] of refused) {
    const ended = await project.run('init', ...args)
    expect([args, ended.code, ended.stderr]).toEqual([args, code, expect.stringMatching(says)])
  }
  const path = join(project.path, 'supabase/config.toml')
  await Deno.writeTextFile(path, `${config}# unsaved\n`)
  const dirty = await project.run('init', '--yes')
  expect([dirty.code, dirty.stderr])
    .toEqual([3, expect.stringMatching(/\(supabase\/config\.toml\).*--force/)])
  await Deno.writeTextFile(path, config)
  expect(await project.files()).toEqual(before)
  // What Git cannot say is not "nothing".
  await Deno.writeTextFile(join(project.path, '.git/index'), 'broken')
  const broken = await project.run('init', '--yes')
  expect([broken.code, broken.stderr]).toEqual([3, expect.stringMatching(/Git cannot say/)])
  expect(await project.files()).toEqual(before)
  expect((await project.run('init', '--yes', '--force')).code).toBe(0)
})

Deno.test('init --json prints the plan, and writes nothing without --yes', async () => {
  const project = await shop()
  const before = await project.files()
  const { code, stdout } = await project.run('init', '--json')
  expect(code).toBe(0)
  const plan = JSON.parse(stdout)
  expect(plan).toMatchObject({ applied: false, byHand: [] })
  expect(plan.steps).toContainEqual({
    kind: 'change',
    path: 'supabase/config.toml',
    what: 'exposes the schema outbox and declares the functions',
  })
  expect(await project.files()).toEqual(before)
  const applied = JSON.parse((await project.run('init', '--json', '--yes')).stdout)
  expect([applied.applied, applied.steps.length]).toEqual([true, plan.steps.length])
})

Deno.test('init writes all that it can, and says what config.toml does not', async () => {
  const project = await shop()
  const path = join(project.path, 'supabase/config.toml')
  const own = '[api]\nschemas = "env(SCHEMAS)"\n'
  await Deno.writeTextFile(path, own)
  await project.commit()
  const { code, stdout } = await project.run('init', '--yes')
  expect(code).toBe(0)
  expect(stdout).toContain('api.schemas is "env(SCHEMAS)": check that its value has outbox')
  const edited = await Deno.readTextFile(path)
  expect(edited).toBe(
    `${own}\n[functions.outhook-deliver]\nenabled = true\nverify_jwt = false\n` +
      '\n[functions.outhook-api]\nenabled = true\nverify_jwt = false\n',
  )
  expect((await project.run('init', '--yes')).stdout).toMatch(/^Everything is there/)

  // Without this, the platform rejects each call of the function.
  await Deno.writeTextFile(path, edited.replace('verify_jwt = false', ''))
  const jwt = await project.run('init', '--yes')
  expect(jwt.code).toBe(1)
  expect(jwt.stdout).toContain('In [functions.outhook-deliver], set: verify_jwt = false')
  await Deno.writeTextFile(path, '[api\n')
  const broken = await project.run('init', '--yes')
  expect([broken.code, broken.stderr])
    .toEqual([1, expect.stringContaining('supabase/config.toml cannot be read')])
})
