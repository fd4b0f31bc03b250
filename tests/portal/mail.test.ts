/** The page on the portal says how to write to a customer whose endpoint fails: word for word. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startOuthook } from '../_support/outhook.ts'
import { docsBlock } from '../project/_docs.ts'
import { until } from './_support/portal.ts'

/** The module of the page, and the e-mails that it would send. */
interface Mailer {
  receiver: { fetch(request: Request): Promise<Response> }
  mails: [orgId: string, text: string][]
}

/** Writes the module into a folder of its own, beside a `mail.js` that only notes the e-mails. */
async function loadMailer(folder: string, secret: string): Promise<Mailer> {
  const receive = pathToFileURL(join(projectRoot, 'package/receive/mod.ts')).href
  const module = docsBlock('mail-failing').replace("'outhook/receive'", `'${receive}'`)
  await Deno.writeTextFile(join(folder, 'failing.js'), module)
  await Deno.writeTextFile(
    join(folder, 'mail.js'),
    `export const mails = []
    export async function mailCustomer(orgId, text) { mails.push([orgId, text]) }`,
  )
  Deno.env.set('FAILING_ENDPOINTS_SECRET', secret)
  const { receiver } = await import(pathToFileURL(join(folder, 'failing.js')).href)
  const { mails } = await import(pathToFileURL(join(folder, 'mail.js')).href)
  return { receiver, mails }
}

Deno.test('the customer of a failing endpoint gets an e-mail as the page says', async () => {
  await using defer = new AsyncDisposableStack()
  const outhook = await startOuthook({ only: ['deliver'] })
  defer.defer(() => outhook.stop())
  const folder = await Deno.makeTempDir()
  defer.defer(() => Deno.remove(folder, { recursive: true }))

  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen(): void {} },
    (request) => mailer.receiver.fetch(request),
  )
  defer.defer(() => server.shutdown())
  const statement = docsBlock('failing-endpoints')
    .replace('https://app.example.com', `http://127.0.0.1:${server.addr.port}`)
  const [row] = await outhook.sql.unsafe(statement)
  const mailer = await loadMailer(folder, row?.create_endpoint.secret)

  const failing = await outhook.createEndpoint('/status/503', {
    ...{ p_event_types: ['order.*'], p_org_id: 'customer-1' },
    p_retry: { strategy: 'fixed', base_delay: 0, max_retries: 0, jitter: false },
  })
  const gone = await outhook.createEndpoint('/status/410', {
    ...{ p_event_types: ['user.*'], p_org_id: 'customer-2' },
  })
  // Five failures in a row open a breaker; the response 410 disables an endpoint at once.
  await outhook.sql`
    select outbox.publish('order.paid', '{}', p_org_id => 'customer-1') from generate_series(1, 5)`
  await outhook.sql`select outbox.publish('user.made', '{}', p_org_id => 'customer-2')`
  await until('two e-mails', () => mailer.mails.length === 2)
  const url = (path: string): string => outhook.receiver.url + path
  expect(mailer.mails.sort()).toEqual([
    ['customer-1', `Your endpoint ${url(failing.path)} has failed several times in a row.`],
    ['customer-2', `Your endpoint ${url(gone.path)} is disabled and gets no events.`],
  ])
})
