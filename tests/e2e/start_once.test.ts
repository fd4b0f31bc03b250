/** `deno task start --once`: the first event, shown as it arrived, or the reason why it cannot arrive. */

import { expect } from '@std/expect'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startPostgres } from '../../supabase/local/postgres/mod.ts'
import { startStack } from '../../supabase/local/stack.ts'
import { showOrder } from '../../supabase/local/start/order.ts'
import { startReceiver } from '../../supabase/local/start/receiver.ts'
import { databaseFolder, sweepTestFolders } from '../_support/folder.ts'
import { makeTestProject } from '../_support/project.ts'

let dataDir: string

Deno.test.beforeAll(async () => {
  await sweepTestFolders()
  dataDir = databaseFolder()
  // There is something to remove even when every test is filtered out.
  await Deno.mkdir(dataDir, { recursive: true })
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

/** Runs a script on the data of an earlier start. */
async function query(sql: string): Promise<string> {
  const pg = await startPostgres({ dataDir, port: 'free', fsync: false })
  const { stdout, stderr } = await pg.psql(sql)
  await pg.stop()
  expect(stderr).toBe('')
  return stdout
}

const endpoints = `
  select count(*), count(*) filter (where status <> 'deleted') from outbox.endpoint;`

/** With the next order, the machine's own addresses are no longer allowed: too late for a refusal. */
const closing = `
  create function public.close_egress() returns trigger language plpgsql as $$
  begin
    perform outbox.set_setting('egress.allow_cidrs', '[]');
    return null;
  end
  $$;
  create trigger close_egress after insert on public.demo_order
  for each row execute function public.close_egress();`

for (const which of ['first', 'second'] as const) {
  Deno.test(`the ${which} start shows the request, its verification and the attempt`, async () => {
    const { code, stdout, stderr } = await startOnce()
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout.includes('applying migration 20260101000000')).toBe(which === 'first')
    const id = stdout.match(/^ {2}webhook-id: ([0-9a-f-]{36})$/m)?.[1]
    const order = which === 'first' ? 1 : 2
    expect(stdout).toMatch(/^ {2}POST \/webhooks$/m)
    expect(stdout).toMatch(/^ {2}webhook-signature: v1,[A-Za-z0-9+/]{43}=$/m)
    expect(stdout).toMatch(/^ {2}x-attempt: 1$/m)
    expect(stdout).toContain(`{"id":"${id}","eventType":"order.paid"`)
    expect(stdout).toContain(`"data":{"id": ${order}, "total": 49.90}}`)
    expect(stdout).toContain('verified by the standardwebhooks package: the signature is valid')
    expect(stdout).toMatch(/^ {2}outcome +delivered$/m)
    expect(stdout).toMatch(/^ {2}status +200$/m)
    for (const type of ['stock.reserved', 'payment.taken', 'order.confirmed']) {
      expect(stdout).toContain(`received ${type}: {`)
    }
    expect(stdout).toMatch(
      /^an order of 60,000, which the customer cannot pay, changes nothing: saga place_order failed at step 2, shop.take_payment: [^{}]+$/m,
    )
  })
}

Deno.test('a start says at once that the worker is switched off, and leaves no endpoint', async () => {
  expect(await query(endpoints)).toBe('2|0')
  await query(`select outbox.set_setting('worker.enabled', 'false')`)
  const { code, stderr } = await startOnce()
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Event [0-9a-f-]{36} did not arrive: the setting worker.enabled is off/)
  expect(stderr).toContain(`select outbox.set_setting('worker.enabled', 'true')`)
  await query(`select outbox.set_setting('worker.enabled', 'true')`)
  expect(await query(endpoints)).toBe('3|0')
})

Deno.test('Ctrl-C ends a start, which deletes its endpoint', async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      'run',
      '-A',
      '--cached-only',
      'supabase/local/start.ts',
      '--free-ports',
      '--data-dir',
      dataDir,
    ],
    cwd: projectRoot,
    env: { NO_COLOR: '1' },
    stdin: 'null',
    stdout: 'piped',
  }).spawn()
  let said = ''
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    if (!said.includes('rollback;') && (said + text).includes('rollback;')) child.kill('SIGINT')
    said += text
  }
  expect((await child.status).code).toBe(0)
  expect(said).toMatch(/\nstopping\n$/)
  expect(await query(endpoints)).toBe('4|0')
})

Deno.test('a start shows why a delivery has ended without success, and what to do', async () => {
  await query(closing)
  const { code, stderr } = await startOnce()
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^Event [0-9a-f-]{36} did not arrive: .*setting egress.allow_cidrs was changed; start with --fresh/,
  )
  expect(stderr).toMatch(/^ {2}error_class +blocked$/m)
  expect(stderr).toMatch(/^ {2}error +The address is not allowed/m)
  expect(stderr).toMatch(/^ {2}hint +The address or the port is not allowed: /m)
})

Deno.test('a start whose endpoint is refused says which settings it needs', async () => {
  const { code, stderr } = await startOnce()
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Cannot create the endpoint http:\S+: url has a host that is not allowed/)
  expect(stderr).toContain('Restore it, or start with --fresh')
})

Deno.test('showOrder() creates nothing and does not fail without the module sagas', async () => {
  await using defer = new AsyncDisposableStack()
  const project = defer.use(await makeTestProject())
  const stack = await startStack({ ...project, ports: 'free', fsync: false, functions: [] })
  defer.defer(() => stack.stop())
  const receiver = startReceiver(() => {})
  defer.defer(() => receiver.stop())
  await showOrder(stack, receiver, AbortSignal.timeout(0))
  expect((await stack.psql(`select to_regnamespace('shop')`)).stdout).toBe('')
})
