/** The stack as a whole: what it serves, what a second start finds, and what it refuses. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { type Stack, type StackOptions, startStack } from '../../supabase/local/stack.ts'
import { freePort } from '../../supabase/local/process/ports.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { makeTestProject, type TestProject } from '../_support/project.ts'
import { patienceMs } from '../_support/patience.ts'

function start(
  { projectDir, dataDir }: TestProject,
  options: Partial<StackOptions> = {},
): Promise<Stack> {
  return startStack({ projectDir, dataDir, ports: 'free', fsync: false, ...options })
}

/** The message of the error that starting ends with, or '' when it does not. */
async function refusal(starting: Promise<Stack>): Promise<string> {
  try {
    await (await starting).stop()
    return ''
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  }
}

async function addNote(stack: Stack, text: string): Promise<number> {
  const response = await fetch(`${stack.apiUrl}/rest/v1/rpc/add_note`, {
    method: 'POST',
    headers: { apikey: stack.keys.secretKey, 'content-type': 'application/json' },
    body: JSON.stringify({ p_text: text }),
  })
  expect(response.status).toBe(200)
  return await response.json()
}

Deno.test('startStack() serves RPC, functions and the database', async () => {
  await using project = await makeTestProject({ own: true })
  const stack = await start(project)
  expect(await addNote(stack, 'first')).toBe(2)
  expect((await stack.psql('select text from public.note')).stdout).toBe('seeded\nfirst')

  const response = await fetch(`${stack.apiUrl}/functions/v1/echo/some/path`)
  const { path, env } = await response.json()
  expect(path).toBe('/echo/some/path')
  expect(env).toMatchObject({
    SUPABASE_URL: stack.apiUrl,
    SUPABASE_DB_URL: stack.dbUrl,
    SUPABASE_ANON_KEY: stack.keys.anonKey,
    SUPABASE_SERVICE_ROLE_KEY: stack.keys.serviceRoleKey,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: stack.keys.publishableKey }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: stack.keys.secretKey }),
    SUPABASE_JWKS: JSON.stringify(stack.keys.jwks),
    SUPABASE_FUNCTION_SLUG: 'echo',
    OUTHOOK_WORKER_SECRET: stack.keys.workerSecret,
  })

  // The database reaches the functions through net, as a kick does.
  await stack.psql(`select net.http_post('${stack.apiUrl}/functions/v1/echo/kick')`)
  const answered = async (): Promise<boolean> => {
    const sql = `select status_code from net._http_response`
    return (await stack.psql(sql)).stdout === '200'
  }
  expect(await waitUntil(answered, { timeoutMs: patienceMs })).toBe(true)
  await stack.stop()
})

Deno.test('startStack() records migrations where the CLI looks', async () => {
  await using project = await makeTestProject()
  const stack = await start(project)
  const history = await stack.psql(
    `select version, name, cardinality(statements) from supabase_migrations.schema_migrations`,
  )
  expect(history.stdout).toBe('20260101000000|note|1')
  await stack.stop()
})

Deno.test('a second start finds data, keys, secrets and cron jobs of the first', async () => {
  await using project = await makeTestProject()
  const first = await start(project)
  await addNote(first, 'kept')
  await first.psql(`
    select vault.create_secret('s3cret', 'kept');
    select cron.schedule('kept', '@daily', 'select 1');`)
  await first.stop()

  await project.write('supabase/migrations/20260102000000_more.sql', 'create table public.more ();')
  const second = await start(project)
  expect(second.dbUrl).not.toBe(first.dbUrl)
  expect(second.keys.secretKey).toBe(first.keys.secretKey)
  const { stdout } = await second.psql(`
    select text from public.note;
    select decrypted_secret from vault.decrypted_secrets where name = 'kept';
    select count(*) from public.more;
    -- A job connects to the port that stands in its row.
    select jobname from cron.job where nodeport = inet_server_port()`)
  expect(stdout).toBe('seeded\nkept\ns3cret\n0\nkept')
  await second.stop()
})

Deno.test('pg_cron runs jobs as the role that scheduled them', async () => {
  await using project = await makeTestProject()
  const dbPort = freePort()
  await project.write(
    'supabase/config.toml',
    `[api]\nport = ${freePort()}\n[db]\nport = ${dbPort}\n`,
  )
  const first = await start(project, { ports: 'cli' })
  await first.psql(
    `select cron.schedule('at start', '@reboot', 'insert into public.note values (current_user)')`,
  )
  await first.stop()
  // Jobs of this schedule run once when the server starts: no minute to wait for.
  const second = await start(project, { ports: 'cli' })
  const ran = async (): Promise<boolean> =>
    (await second.psql('select text from public.note')).stdout === 'seeded\npostgres'
  expect(await waitUntil(ran, { timeoutMs: patienceMs })).toBe(true)
  await second.stop()
})

Deno.test('startStack() with ticksAtOnce runs the job outhook-tick before its first minute', async () => {
  await using project = await makeTestProject()
  const log: string[] = []
  const schedule = (command: string): string =>
    `select cron.schedule('outhook-tick', '* * * * *', $$${command}$$)`
  // pg_cron runs its jobs with another application_name.
  await project.write(
    'supabase/migrations/20260102000000_tick.sql',
    schedule("insert into public.note values (current_setting('application_name'))"),
  )
  const options = { functions: [], ticksAtOnce: true, log: (line: string) => void log.push(line) }
  const first = await start(project, options)
  const ticked = async (): Promise<boolean> =>
    (await first.psql('select text from public.note')).stdout.includes('postgres.js')
  expect(await waitUntil(ticked, { timeoutMs: patienceMs })).toBe(true)
  await first.psql(schedule('select 1 / 0'))
  await first.stop()
  expect(log.filter((line) => line.startsWith('first ticks'))).toEqual([])

  const second = await start(project, options)
  const logged = (): boolean => log.includes('first ticks: division by zero')
  expect(await waitUntil(logged, { timeoutMs: patienceMs })).toBe(true)
  await second.stop()
})

Deno.test('startStack() with fresh drops what was there', async () => {
  await using project = await makeTestProject()
  const first = await start(project)
  await addNote(first, 'gone')
  await first.stop()
  const second = await start(project, { fresh: true })
  expect((await second.psql('select text from public.note')).stdout).toBe('seeded')
  expect(second.keys.secretKey).not.toBe(first.keys.secretKey)
  await second.stop()
})

Deno.test('startStack() refuses a migration that changed after it was applied', async () => {
  await using project = await makeTestProject()
  await (await start(project)).stop()
  const path = 'supabase/migrations/20260101000000_note.sql'
  const text = await Deno.readTextFile(`${project.projectDir}/${path}`)
  await project.write(path, `${text}\n\n`)
  expect(await refusal(start(project))).toBe('')
  await project.write(path, `${text}create table public.late ();`)
  expect(await refusal(start(project))).toBe(
    `SetupError: ${path} has changed since it was applied: start with --fresh, which drops the ` +
      'local data',
  )
  await Deno.remove(`${project.projectDir}/${path}`)
  expect(await refusal(start(project))).toContain(
    '20260101000000 is in the database and in no file',
  )
})

Deno.test('startStack() names the migration that cannot be applied and leaves nothing of it', async () => {
  await using project = await makeTestProject()
  const path = 'supabase/migrations/20260102000000_bad.sql'
  await project.write(path, 'create table public.half (); select 1 / 0;')
  expect(await refusal(start(project))).toBe(
    `SetupError: ${path} cannot be applied: division by zero`,
  )
  await project.write(path, 'create table public.half ();')
  expect(await refusal(start(project))).toBe('')
})

Deno.test('startStack() refuses a data folder that another stack uses', async () => {
  await using project = await makeTestProject()
  const stack = await start(project)
  expect(await refusal(start(project))).toBe(
    `SetupError: ${project.dataDir} is in use by another copy of this stack (pid ${Deno.pid}): ` +
      `stop that one first\n  kill $(cat "${project.dataDir}/stack.lock")`,
  )
  expect(await addNote(stack, 'still up')).toBe(2)
  await stack.stop()
})

Deno.test('startStack() says so when the data folder is a file', async () => {
  await using project = await makeTestProject()
  const dataDir = join(project.projectDir, 'supabase/config.toml')
  expect(await refusal(start({ ...project, dataDir }))).toBe(
    `SetupError: ${dataDir} is not a usable folder: set another one with --data-dir`,
  )
})

Deno.test('startStack() names a port that is taken and the way out', async () => {
  await using project = await makeTestProject()
  using taken = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const { port } = taken.addr
  const other = freePort()
  const ports = (api: number, db: number): Promise<void> =>
    project.write('supabase/config.toml', `[api]\nport = ${api}\n[db]\nport = ${db}\n`)
  await ports(port, other)
  expect(await refusal(start(project, { ports: 'cli' }))).toContain(
    `port ${port} (API) is taken, perhaps by another copy of this stack or by \`supabase start\``,
  )
  await ports(other, port)
  expect(await refusal(start(project, { ports: 'cli' }))).toContain(
    `port ${port} (database) is taken`,
  )
})
