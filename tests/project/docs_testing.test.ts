/** The page on testing, word for word but for its port and the id of its event. */

import { expect } from '@std/expect'
import { freePort } from '../../supabase/local/process/ports.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startStack } from '../../supabase/local/stack.ts'
import { databaseFolder } from '../_support/folder.ts'
import { patienceMs } from '../_support/patience.ts'
import { copyPrepared } from '../_support/prepared.ts'
import { docsBlock } from './_docs.ts'

Deno.test('the page on testing shows that an event was published, delivered or became a dead letter', async () => {
  const folder = databaseFolder()
  await using defer = new AsyncDisposableStack()
  defer.defer(() => Deno.remove(folder, { recursive: true }))
  await copyPrepared(folder, 'migrations')
  const stack = await startStack({
    dataDir: folder,
    ports: 'free',
    fsync: false,
    ticksAtOnce: true,
  })
  defer.defer(() => stack.stop())
  const query = async (sql: string): Promise<string[]> => {
    const { code, stdout, stderr } = await stack.psql(sql)
    if (code !== 0) throw new Error(stderr)
    return stdout.trim().split('\n')
  }

  const published = await query(docsBlock('test-published'))
  expect(published.slice(1)).toEqual(['order.paid|{"id": 1, "total": 49.90}||'])
  expect(await query('select count(*) from outbox.event')).toEqual(['0'])

  let status = 204
  const port = freePort()
  const receiver = Deno.serve(
    { hostname: '127.0.0.1', port, onListen: () => {} },
    () => new Response(null, { status }),
  )
  defer.defer(() => receiver.shutdown())
  await query(docsBlock('test-endpoint').replace('3002', String(port)))
  const deliver = async (): Promise<string[]> => {
    const [event = ''] = await query(
      `select outbox.publish('order.paid', '{"id": 1}', p_org_id => 'test-1')`,
    )
    // The block waits for 10 s, which a busy machine can exceed.
    const block = docsBlock('test-delivered').replaceAll('<event id>', event)
    let rows: string[] = []
    await waitUntil(async () => {
      rows = await query(block)
      return /\|(delivered|dead_letter)\|/.test(rows[0] ?? '')
    }, { timeoutMs: patienceMs })
    return rows
  }

  const [delivered, ...attempts] = await deliver()
  expect(delivered).toMatch(/^[-\da-f]{36}\|delivered\|1\|$/)
  expect(attempts.map((row) => row.split('|').slice(0, 3))).toEqual([['1', 'delivered', '204']])

  status = 500
  const [dead, ...failed] = await deliver()
  expect(dead).toMatch(/^[-\da-f]{36}\|dead_letter\|2\|.+$/)
  expect(failed.map((row) => row.split('|').slice(0, 4))).toEqual([
    ['1', 'failed', '500', 'status'],
    ['2', 'failed', '500', 'status'],
  ])

  const settings = (await query(docsBlock('before-production'))).map((row) => row.split('|')[0])
  for (const name of ['egress.allow_http', 'egress.allow_cidrs', 'event.retention_days']) {
    expect(settings).toContain(name)
  }

  await query(docsBlock('set-settings'))
  expect(await query("select value from outbox.setting where name = 'event.retention_days'"))
    .toEqual(['60'])

  const relations = (await query(docsBlock('relations'))).map((row) => row.split('|').slice(0, 2))
  for (const name of ['delivery_status', 'endpoint_status', 'queue_health', 'webhook_outbox']) {
    expect(relations).toContainEqual([name, 'view'])
  }
  for (
    const name of ['event', 'attempt', 'dead_letter', 'endpoint', 'subscription', 'setting', 'gate']
  ) {
    expect(relations).toContainEqual([name, 'table'])
  }
})
