import { graphError } from './errors.ts'
import type { GraphFacts, GraphNumber, GraphTemplate } from './number.ts'

/** A GET of the Graph API: the id of its object, or `debug_token`; the edge; and the query. */
export type Lookup = { object: string; edge: string; query: URLSearchParams; token: string }

/** A number with its id and what the Graph API says of it. */
export type KnownNumber = GraphNumber & { id: string; facts: GraphFacts }

type Answer = { status: number; body: string }

/** How many templates a page has at most, whatever is asked for. */
const largestPage = 250

/**
 * What the Graph API answers to a GET. It knows `debug_token`, a number, and the edges
 * `subscribed_apps` and `message_templates` of an account.
 */
export function answerLookup(
  { object, edge, query, token }: Lookup,
  numbers: readonly KnownNumber[],
): Answer {
  const holder = numbers.find((number) => number.token === token)
  if (object === 'debug_token') return tokenFacts(query.get('input_token') ?? '', numbers)
  if (holder === undefined) return graphError({ code: 190 })
  if (edge === '' && object === holder.id) return json(numberFacts(holder, query))
  if (object === holder.account && edge === 'subscribed_apps') {
    const apps = holder.facts.subscribed.map((id) => ({ whatsapp_business_api_data: { id } }))
    return json({ data: apps })
  }
  if (object === holder.account && edge === 'message_templates') {
    return json(templatePage(holder.facts.templates, query))
  }
  return graphError({ code: 100, subcode: 33, details: `No object ${object} here` })
}

function tokenFacts(token: string, numbers: readonly KnownNumber[]): Answer {
  const holder = numbers.find((number) => number.token === token)
  if (holder === undefined) {
    const error = { code: 190, message: 'Invalid OAuth access token.' }
    return json({ data: { is_valid: false, scopes: [], error } })
  }
  const { tokenApp: app_id, expiresAt: expires_at, scopes } = holder.facts
  return json({ data: { app_id, type: 'SYSTEM_USER', is_valid: true, expires_at, scopes } })
}

function numberFacts({ id, facts }: KnownNumber, query: URLSearchParams): unknown {
  const all: Record<string, unknown> = {
    id,
    status: facts.status,
    quality_rating: facts.quality,
    display_phone_number: '+1 202-555-0100',
  }
  const fields = (query.get('fields') ?? 'display_phone_number').split(',')
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => name === 'id' || fields.includes(name)),
  )
}

/** The cursor of a page is the number of the templates before it. */
function templatePage(templates: readonly GraphTemplate[], query: URLSearchParams): unknown {
  const from = Number(query.get('after') ?? 0)
  const to = from + Math.min(Number(query.get('limit') ?? 25), largestPage)
  const isLast = to >= templates.length
  return {
    data: templates.slice(from, to),
    paging: { cursors: { after: String(to) }, ...isLast ? {} : { next: 'https://graph' } },
  }
}

function json(body: unknown): Answer {
  return { status: 200, body: JSON.stringify(body) }
}
