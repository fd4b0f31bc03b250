import { Buffer } from 'node:buffer'
import { z } from 'zod'
import { safeString, safeText } from '../../_shared/base/safe_text.ts'
import { version } from '../../_shared/base/version.ts'
import type { AddressPolicy, PolicySource } from '../../_shared/connect/address.ts'
import { checkTarget } from '../../_shared/connect/target.ts'
import { type Exchange, isSuccess, type Transport } from '../../_shared/transport/transport.ts'
import type { ChannelAccess } from './access.ts'

/** A response of the Graph API. `code` is its error code; null: there is no readable response. */
export type GraphReply =
  | { ok: true; json: unknown }
  | { ok: false; code: string | null; problem: string }

/** Reads one object of the Graph API: the path after the version, with its query. */
export type ReadGraph = (path: string) => Promise<GraphReply>

export type GraphDeps = {
  transport: Transport
  policyOf: PolicySource
  /** The time limit of a whole check; by default `checkMs`. */
  checkMs?: number | undefined
}

/** For DNS, the connection and the response together. */
const requestMs = 8_000

/** Several pages of templates, each of them slow, would otherwise take a minute. */
const checkMs = 20_000

/** A page of 250 templates has about 40 KiB. */
const mostBytes = 524_288

const refused = z.object({
  error: z.object({ code: z.int(), message: z.string().optional().catch(undefined) }),
})

/**
 * Reads with the token of a channel, over connections to allowed addresses only. After the time limit of the
 * check nothing more is read.
 */
export function graphReader(
  { transport, policyOf, checkMs: limitMs = checkMs }: GraphDeps,
  access: ChannelAccess & { accessToken: string },
): ReadGraph {
  const { allow_http, allow_cidrs, allow_ports, deny_ports, proxy_url } = access.egress
  const policy: AddressPolicy = policyOf({
    allowHttp: allow_http,
    allowCidrs: allow_cidrs,
    allowPorts: allow_ports,
    denyPorts: deny_ports,
    proxyUrl: proxy_url,
  })
  const base = `${access.graphUrl.replace(/\/+$/, '')}/${access.graphVersion}`

  const endsAt = performance.now() + limitMs

  return async function read(path): Promise<GraphReply> {
    const leftMs = Math.round(endsAt - performance.now())
    if (leftMs <= 0) {
      const problem = `The check was ended after ${
        limitMs / 1_000
      } s, because the Graph API is slow`
      return { ok: false, code: null, problem }
    }
    const target = checkTarget(`${base}/${path}`, policy)
    if (!target.ok) {
      const problem = `The setting whatsapp.graph_url is not usable: ${target.problem}`
      return { ok: false, code: null, problem }
    }
    return replyOf(
      await transport.post({
        method: 'GET',
        endpoint: access.channelId,
        isRepeatable: true,
        url: target.url,
        headers: [
          ...['authorization', `Bearer ${access.accessToken}`],
          ...['user-agent', `Outhook/${version}`],
        ],
        body: Buffer.alloc(0),
        timeoutMs: Math.min(requestMs, leftMs),
        successBytes: mostBytes,
        failureBytes: 16_384,
        policy,
      }),
      access.accessToken,
    )
  }
}

function replyOf(exchange: Exchange, token: string): GraphReply {
  if (exchange.kind === 'fault') {
    const problem = `The Graph API cannot be reached: ${exchange.message}`
    return { ok: false, code: null, problem: safeString(problem, 500) }
  }
  const { status } = exchange
  const json = jsonOf(exchange, token)
  const read = refused.safeParse(json)
  if (read.success) {
    const { code, message = 'it gives no reason' } = read.data.error
    return { ok: false, code: String(code), problem: safeString(message, 500) }
  }
  if (isSuccess(status) && json !== null) return { ok: true, json }
  const problem = `The Graph API responded with ${status} and nothing that can be read`
  return { ok: false, code: null, problem }
}

/** Without the token: Meta repeats one that is malformed. */
function jsonOf(
  { body, cut }: Extract<Exchange, { kind: 'response' }>,
  token: string,
): unknown {
  if (cut) return null
  try {
    return JSON.parse(safeText(body, { cut }).text.replaceAll(token, '…'))
  } catch {
    return null
  }
}
