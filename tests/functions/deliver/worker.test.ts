import { expect } from '@std/expect'
import { type Stack, startStack } from '../../../supabase/local/stack.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { databaseFolder } from '../../_support/folder.ts'
import { patienceMs } from '../../_support/patience.ts'
import { copyPrepared } from '../../_support/prepared.ts'
import { runtimes, workerCommand } from '../../_support/worker_runtimes.ts'
import { type Receiver, startReceiver } from '../../e2e/receiver/receiver.ts'

type Worker = { process: Deno.ChildProcess; output: Promise<string> }

async function startWorker(
  runtime: typeof runtimes[number],
  env: Record<string, string>,
): Promise<Worker> {
  const [command = '', ...args] = await workerCommand(runtime)
  const process = new Deno.Command(command, {
    args,
    cwd: projectRoot,
    env: { OUTHOOK_DB_URL: '', OUTHOOK_PROJECT: 'local', OUTHOOK_DEBUG: '', ...env },
    stdout: 'piped',
    stderr: 'inherit',
  }).spawn()
  return { process, output: new Response(process.stdout).text() }
}

async function prepare(stack: Stack, receiver: Receiver): Promise<void> {
  await stack.psql(`
    select outbox.set_setting('worker.max_runs', '1');
    select outbox.create_endpoint(p_url => '${receiver.url}/hook', p_ordering => 'partition');
    select outbox.create_endpoint(p_url => '${receiver.url}/slow/1500', p_event_types => '{slow}');
    select outbox.publish('order.paid', '{"n": 1}', p_partition_key => (i % 7)::text)
    from generate_series(1, 200) as i;`)
}

function checkLog(output: string): void {
  const lines: Record<string, unknown>[] = output.trim().split('\n').map((line) => JSON.parse(line))
  expect(lines.filter(({ message }) => message === 'attempt')).toHaveLength(202)
  expect(lines.at(-1)).toMatchObject({ message: 'delivered within a minute', delivered: 202 })
  expect(lines.find(({ message }) => message === 'run ended')).toMatchObject({
    kind: 'worker',
    reason: 'signal',
    delivered: 202,
    failed: 0,
    stale: 0,
  })
  expect(output).not.toContain('whsec_')
  expect(output).not.toContain('"n"')
}

async function stopIfAlive({ process, output }: Worker): Promise<void> {
  try {
    process.kill('SIGKILL')
  } catch {
    // It has ended.
  }
  await process.status
  await output
}

for (const runtime of runtimes) {
  Deno.test(`worker under ${runtime} delivers, and at SIGTERM finishes what is on its way and marks itself ended`, async () => {
    const dataDir = databaseFolder()
    const receiver = startReceiver()
    await copyPrepared(dataDir, 'migrations')
    const stack = await startStack({ dataDir, ports: 'free', functions: [], fsync: false })
    const worker = await startWorker(runtime, { OUTHOOK_DB_URL: stack.dbUrl, OUTHOOK_DEBUG: '1' })
    try {
      await prepare(stack, receiver)
      await receiver.waitFor(200)
      await stack.psql(`select outbox.publish('slow', '{"n": 2}')`)
      await receiver.waitFor(202)
      const hits = receiver.received.map(({ path }) => path)
      expect(hits.filter((path) => path === '/slow/1500')).toHaveLength(1)
      // The slow receiver has the request and has not answered.
      worker.process.kill('SIGTERM')
      const { code } = await worker.process.status
      expect(code).toBe(0)
      const ids = receiver.received.map(({ path, headers }) => `${path} ${headers['webhook-id']}`)
      expect(new Set(ids).size).toBe(202)
      const open = await stack.psql('select count(*) from outbox.delivery')
      expect(open.stdout.trim()).toBe('0')
      const live = await stack.psql(
        `select count(*) filter (where ended_at is null) || ' of ' || count(*)
        from outbox.run where kind = 'worker'`,
      )
      expect(live.stdout.trim()).toBe('0 of 1')
      checkLog(await worker.output)
    } finally {
      await stopIfAlive(worker)
      await stack.stop()
      await receiver.close()
      await Deno.remove(dataDir, { recursive: true })
    }
  })

  Deno.test(`worker under ${runtime} says what is missing and ends with 2`, async () => {
    const { process, output } = await startWorker(runtime, {})
    expect((await process.status).code).toBe(2)
    expect(await output).toContain('OUTHOOK_DB_URL')
  })

  Deno.test(`worker under ${runtime} ends with 1 if its health port is in use`, async () => {
    // Another start may find it free, so it is no invalid variable.
    using listener = Deno.listen({ port: 0, hostname: '0.0.0.0' })
    const { process, output } = await startWorker(runtime, {
      OUTHOOK_DB_URL: 'postgres://u:p@127.0.0.1:9/db',
      OUTHOOK_PROJECT: 'local',
      OUTHOOK_HEALTH_PORT: String(listener.addr.port),
    })
    expect((await process.status).code).toBe(1)
    expect(await output).toContain(`OUTHOOK_HEALTH_PORT: port ${listener.addr.port}: `)
  })
}

Deno.test('worker under Node refuses OUTHOOK_TRANSPORT=fetch, which would not check certificates', async () => {
  // A port at which nobody listens.
  const env = { OUTHOOK_DB_URL: 'postgres://u:p@127.0.0.1:9/db', OUTHOOK_TRANSPORT: 'fetch' }
  const { process, output } = await startWorker('Node', env)
  const stopping = setTimeout(() => process.kill('SIGKILL'), patienceMs)
  const { code } = await process.status
  clearTimeout(stopping)
  expect(await output).toContain('OUTHOOK_TRANSPORT=fetch is not supported under Node.js')
  expect(code).toBe(2)
})
