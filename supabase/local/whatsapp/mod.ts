/** `deno task stack --whatsapp`: a Graph API on this machine, for the channels in the database. */

import postgres from 'postgres'
import { SetupError } from '../errors.ts'
import type { CallbackTarget } from './callbacks.ts'
import { startGraph } from './graph.ts'
import type { GraphNumber, GraphTemplate } from './number.ts'
import { createPeople } from './people.ts'

/** Its port, unless any free one is taken. The Supabase CLI uses no port from 54330 on. */
export const whatsappPort = 54390

export interface Whatsapp {
  /** The value of the setting whatsapp.graph_url; `/people` answers as the person. */
  readonly url: string
  stop(): Promise<void>
}

export interface WhatsappOptions {
  dbUrl: string
  apiUrl: string
  /** Port 54390, or any free one. */
  ports: 'cli' | 'free'
}

/** A channel in the database. */
type Row = {
  number: string
  account: string
  app: string
  app_key: string
  token: string | null
  secret: string | null
  templates: GraphTemplate[]
}

/**
 * Starts it and makes it the Graph API of the database, until it stops. Its numbers are the channels,
 * with the tokens that they have: only a token that begins with `expired` is refused.
 */
export async function startWhatsapp({ dbUrl, apiUrl, ports }: WhatsappOptions): Promise<Whatsapp> {
  const port = ports === 'cli' ? whatsappPort : 0
  const script = await Deno.readTextFile(new URL('./numbers.sql', import.meta.url))
  const sql = postgres(dbUrl, { max: 2, fetch_types: false, onnotice: () => {} })

  async function channels(): Promise<Row[]> {
    return await sql.unsafe<Row[]>(script)
  }

  async function numbers(): Promise<Record<string, GraphNumber>> {
    return Object.fromEntries((await channels()).map((row) => {
      const { number, account, app, templates } = row
      const token = row.token ?? ''
      return [number, { account, app, templates, token: token.startsWith('expired') ? '' : token }]
    }))
  }

  async function target(number: string): Promise<CallbackTarget> {
    const row = (await channels()).find((channel) => channel.number === number)
    if (row === undefined) throw new Error(`no channel has the number ${number}`)
    const url = `${apiUrl}/functions/v1/whatsapp/inbound/${row.app_key}`
    return { url, secret: row.secret ?? '', waba: row.account }
  }

  const graph = startGraph({
    port,
    numbers,
    callbacks: target,
    others: (...args) => people(...args),
  })
  const people = createPeople({ taken: graph.taken, target })

  async function setUrl(url: string): Promise<string> {
    const [row] = await sql`
      select outbox.set_setting('whatsapp.graph_url', to_jsonb(${url}::text)) ->> 'was' as was`
    return row?.was
  }

  let was: string
  try {
    was = await setUrl(graph.url)
  } catch (cause) {
    await graph.close()
    await sql.end()
    throw new SetupError('--whatsapp needs the module messages in the database', { cause })
  }

  return {
    url: graph.url,
    async stop(): Promise<void> {
      await graph.close()
      // A stack that was killed has left its URL. A database that has ended keeps this one.
      await setUrl(was.startsWith('http:') ? 'https://graph.facebook.com' : was).catch(() => {})
      await sql.end({ timeout: 1 })
    },
  }
}
