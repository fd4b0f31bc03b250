import type { OwnFunction } from '../init/plan.ts'
import { causeOf, parseJson, type Target } from './data_api.ts'
import type { ContractRange } from './facts.ts'

/** An edge function at an address, and its name in Outhook, such as `deliver`. */
export interface FunctionAddress {
  name: string
  /** The URL of the function, to which its paths are added. */
  url: string
}

/** What a function responded when it was asked for its version. */
export interface FunctionState extends FunctionAddress {
  /** Null: there was no response. */
  status: number | null
  version: string | null
  /** The contracts of `deliver`. */
  contracts: ContractRange | null
  /** How far its clock is ahead of this machine's, to the second; null if the response has no time. */
  aheadMs: number | null
  /** Why there is no version. */
  problem: string | null
}

/** The functions that can be asked for a version. The key is needed by `api` alone. */
const healthPaths: Readonly<Record<string, string>> = {
  api: '/v1/health',
  deliver: '/health',
  metrics: '/health',
  whatsapp: '/health',
}

/**
 * The functions to ask: `deliver` where the database calls it, and those that the project has. The
 * host of the database may be one that only containers know, so all are asked at the URL of the
 * project.
 */
export function functionAddresses(
  { url }: Pick<Target, 'url'>,
  functionsUrl: string | null,
  own: readonly OwnFunction[],
): FunctionAddress[] {
  const found = new Map<string, string>()
  for (const { name, folder } of own) found.set(name, `${url}/functions/v1/${folder}`)
  if (functionsUrl !== null && URL.canParse(functionsUrl)) {
    const path = new URL(functionsUrl).pathname.replace(/\/$/, '')
    found.set('deliver', `${url}${path}/deliver`)
  } else if (!found.has('deliver')) found.set('deliver', `${url}/functions/v1/deliver`)
  return [...found].filter(([name]) => name in healthPaths)
    .map(([name, address]) => ({ name, url: address }))
}

/** Asks a function for its version. Never rejects. */
export async function askFunction(
  address: FunctionAddress,
  { key }: Pick<Target, 'key'>,
): Promise<FunctionState> {
  const { name, url } = address
  const nothing = { ...address, status: null, version: null, contracts: null, aheadMs: null }
  const startedAt = Date.now()
  let response: Response
  let text: string
  try {
    response = await fetch(url + healthPaths[name], {
      headers: name === 'api' ? { apikey: key } : {},
      redirect: 'manual',
      // A function may start with this request.
      signal: AbortSignal.timeout(20_000),
    })
    text = await response.text()
  } catch (error) {
    return { ...nothing, problem: causeOf(error) }
  }
  const now = (startedAt + Date.now()) / 2
  const date = Date.parse(response.headers.get('date') ?? '')
  const body = parseJson(text)
  const version = response.ok ? member(body, 'version') : undefined
  return {
    ...nothing,
    status: response.status,
    version: typeof version === 'string' ? version : null,
    contracts: rangeOf(member(body, 'contracts')),
    aheadMs: Number.isNaN(date) ? null : Math.round(date + 500 - now),
    problem: typeof version === 'string' ? null : reasonOf(body),
  }
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value).find(([key]) => key === name)?.[1]
}

function rangeOf(value: unknown): ContractRange | null {
  const oldest = member(value, 'oldest')
  const newest = member(value, 'newest')
  return typeof oldest === 'number' && typeof newest === 'number' ? { oldest, newest } : null
}

function reasonOf(body: unknown): string | null {
  for (const name of ['detail', 'message', 'msg']) {
    const text = member(body, name)
    if (typeof text === 'string') return text.slice(0, 200)
  }
  return null
}
