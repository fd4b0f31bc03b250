import { waitUntil } from '../../supabase/local/process/wait.ts'
import {
  bodyOf,
  type CallbackResult,
  type CallbackTarget,
  changeOf,
  type Otherwise,
  postCallback,
} from '../../supabase/local/whatsapp/callbacks.ts'
import { type Graph, startGraph, type Taken } from '../../supabase/local/whatsapp/graph.ts'
import { type ApiAnswer, type ApiCall, apiCaller } from './api.ts'
import { patienceMs, startOuthook, type TestOuthook } from './outhook.ts'

/** The numbers of the tests: one an organisation, the first two under one Meta app. */
export const tenants = {
  'org-a': { number: '101', app: '1', waba: '901' },
  'org-b': { number: '102', app: '1', waba: '901' },
  'org-c': { number: '103', app: '2', waba: '902' },
} as const
export type Org = keyof typeof tenants

/** The product with a Graph API that calls back, and three organisations that have a channel each. */
export interface TestWhatsapp {
  readonly outhook: TestOuthook
  readonly graph: Graph
  readonly channels: Record<Org, string>
  /** Where an organisation's callbacks go, and what signs them. */
  target(org: Org): CallbackTarget
  /** Calls the API for an organisation. */
  call(org: Org, request: string, body?: unknown, more?: ApiCall): Promise<ApiAnswer>
  /** A person's number that no other test has. */
  somebody(): string
  /** Queues a template for a person and gives the message's id. */
  create(org: Org, to: string, body?: Record<string, unknown>): Promise<string>
  /** The message once its status is that one. */
  settled(org: Org, id: string, status: string): Promise<ApiAnswer['body']>
  /** What WhatsApp has taken for a person; the first one is waited for. */
  takenFor(to: string): Promise<Taken[]>
  /** Calls back with one change of the field `messages`. */
  callBack(org: Org, value: Record<string, unknown>, otherwise?: Otherwise): Promise<CallbackResult>
  /** What the audit trail says of a message, the first thing first. */
  trail(org: Org, id: string): Promise<string[]>
  stop(): Promise<void>
}

/** Starts it all; takes a few seconds, so share one per file. */
export async function startWhatsapp(functions: string[] = []): Promise<TestWhatsapp> {
  const outhook = await startOuthook({ only: ['deliver', 'api', 'whatsapp', ...functions] })
  const callApi = apiCaller(outhook)
  const { sql, stack } = outhook
  const targets = new Map<string, CallbackTarget>()
  const reminder = {
    name: 'appointment_reminder',
    language: 'fr',
    status: 'APPROVED',
    category: 'UTILITY',
    parameter_format: 'POSITIONAL',
  }
  const numbers = Object.values(tenants).map(({ number, app, waba }) => [
    number,
    { token: `token-${number}`, account: waba, app, templates: [reminder] },
  ])
  const graph = startGraph({ numbers: Object.fromEntries(numbers), callbacks: targetOf })
  await sql`select outbox.set_setting('whatsapp.graph_url', to_jsonb(${graph.url}::text))`
  const channels: Partial<Record<Org, string>> = {}
  for (const [org, { number, app, waba }] of Object.entries(tenants)) {
    const secret = `secret-${app}`
    const [row] =
      await sql`select outbox.put_whatsapp_app(${app}, ${secret}, p_overlap => '0') as app`
    const url = `${stack.apiUrl}/functions/v1/whatsapp/inbound/${row?.app.appKey}`
    targets.set(number, { url, secret, waba })
    const channel = await callApi('POST /channels', {
      headers: { 'x-org-id': org },
      body: {
        phoneNumberId: number,
        wabaId: waba,
        appId: app,
        accessToken: `token-${number}`,
        // Six seconds between two messages to one person would be spent waiting here.
        pairSeconds: 0,
      },
    })
    if (channel.status !== 201) throw new Error(`no channel: ${JSON.stringify(channel.body)}`)
    // SAFETY: the keys of tenants.
    channels[org as Org] = channel.body.id
    const template = { name: 'appointment_reminder', language: 'fr', category: 'UTILITY' }
    await callApi('PUT /templates/reminder', { headers: { 'x-org-id': org }, body: template })
  }
  let people = 0

  function targetOf(number: string): CallbackTarget {
    const target = targets.get(number)
    if (target === undefined) throw new Error(`no channel has the number ${number}`)
    return target
  }

  async function call(
    org: Org,
    request: string,
    body?: unknown,
    more: ApiCall = {},
  ): Promise<ApiAnswer> {
    const headers = { 'x-org-id': org, ...more.headers }
    return await callApi(request, { ...more, headers, ...body === undefined ? {} : { body } })
  }

  async function create(
    org: Org,
    to: string,
    body: Record<string, unknown> = {},
  ): Promise<string> {
    const base = { channel: 'WHATSAPP', to, templateCode: 'reminder' }
    const answer = await call(org, 'POST /outbound/messages', {
      ...base,
      payloadJson: { parameters: ['Anna'] },
      ...body,
    })
    if (answer.status !== 201) throw new Error(`no message: ${JSON.stringify(answer.body)}`)
    return answer.body.id
  }

  async function settled(org: Org, id: string, status: string): Promise<ApiAnswer['body']> {
    let message: ApiAnswer['body'] = null
    const isThere = await waitUntil(async () => {
      message = (await call(org, `GET /outbound/messages/${id}`)).body
      return message.status === status
    }, { timeoutMs: patienceMs, everyMs: 50 })
    if (!isThere) throw new Error(`message ${id} is ${message.status}, not ${status}`)
    return message
  }

  async function takenFor(to: string): Promise<Taken[]> {
    const found = (): Taken[] => graph.taken.filter(({ body }) => body.to === to)
    await waitUntil(() => found().length > 0, { timeoutMs: patienceMs, everyMs: 20 })
    return found()
  }

  async function callBack(
    org: Org,
    value: Record<string, unknown>,
    otherwise: Otherwise = {},
  ): Promise<CallbackResult> {
    const { number, waba } = tenants[org]
    return await postCallback(
      targetOf(number),
      bodyOf(waba, [changeOf(number, value)]),
      otherwise,
    )
  }

  async function trail(org: Org, id: string): Promise<string[]> {
    const path = `/audit-events?entityType=OUTBOUND_MESSAGE&entityId=${id}`
    const { body } = await call(org, `GET ${path}`)
    return body.data
      .map(({ action, details }: Record<string, string>) => `${action} ${details}`).reverse()
  }

  return {
    outhook,
    graph,
    // SAFETY: the loop above has made one for each.
    channels: channels as Record<Org, string>,
    target: (org) => targetOf(tenants[org].number),
    call,
    somebody: () => `+120255${String(60_000 + people++)}`,
    create,
    settled,
    takenFor,
    callBack,
    trail,
    async stop(): Promise<void> {
      await outhook.stop()
      await graph.close()
    },
  }
}
