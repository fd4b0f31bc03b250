import createFetchClient from 'openapi-fetch'
import { type AnyFetchClient, type AnyInput, attempt } from './attempt.ts'
import { eachItem } from './each.ts'
import type { Operation } from './operation.ts'
import type {
  Arguments,
  Item,
  ListName,
  OperationName,
  Output,
  RequestOptions,
} from './operation_types.ts'
import { operations } from './operations.ts'
import { retryDelay, type RetryOptions } from './retry.ts'
import { sleep } from './sleep.ts'

/** With what a client calls the API: a secret key, or the token of a user or a portal. */
export type Credentials =
  | { key: string }
  | { token: string | (() => string | Promise<string>) }

export type ClientOptions = Credentials & Partial<RetryOptions> & {
  /** The URL of the project, such as `https://abcdefghijklmnopqrst.supabase.co`. */
  url: string
  /** The name of the function `api` in the project, such as `outhook-api`; `api` by default. */
  functionName?: string
  /** The organisation of requests with a secret key; `default` by default. */
  orgId?: string
  /** The time limit of each attempt; 30,000 by default. */
  timeoutMs?: number
  /** Another `fetch`, such as one that uses a proxy. */
  fetch?: (request: Request) => Promise<Response>
}

/** Each operation of the API, by its operationId. */
type Operations = {
  [Name in OperationName]: (...args: Arguments<Name>) => Promise<Output<Name>>
}

/** Each list of the API, over all its pages. */
type Lists = {
  [Name in ListName]: (...args: Arguments<Name>) => AsyncGenerator<Item<Name>, void, undefined>
}

/** A client of the API: its operations, and `each` for lists over all their pages. */
export type Client = Operations & { readonly each: Lists }

type AnyOptions = AnyInput & RequestOptions

/** Creates a client. It opens no connection before the first call. Throws if `url` is not a URL. */
export function createClient(options: ClientOptions): Client {
  const { timeoutMs = 30_000, retries = 2, longestWaitMs = 30_000 } = options
  const { functionName = 'api' } = options
  const url = new URL(options.url)
  const client: AnyFetchClient = createFetchClient({
    baseUrl: `${url.origin}${url.pathname.replace(/\/+$/, '')}/functions/v1`,
    // A redirect to another host would take the key there.
    redirect: 'error',
    ...options.fetch === undefined ? {} : { fetch: options.fetch },
  })

  async function call(operation: Operation, input: AnyOptions = {}): Promise<unknown> {
    // One key for all attempts, so that a repeat creates nothing.
    const key = operation.keyed === true ? input.idempotencyKey ?? crypto.randomUUID() : undefined
    for (let failed = 1;; failed++) {
      try {
        return await attempt(client, {
          operation,
          input,
          headers: await headersOf(options, input, key),
          signal: input.signal,
          timeoutMs: input.timeoutMs ?? timeoutMs,
        })
      } catch (error) {
        const patience = { retries, longestWaitMs }
        const delay = retryDelay(operation, error, failed, patience, Math.random())
        if (delay === null) throw error
        await sleep(delay, input.signal)
      }
    }
  }

  const calls: Record<string, unknown> = {}
  const each: Record<string, unknown> = {}
  for (const [name, described] of Object.entries<Operation>(operations)) {
    const path = described.path.replace('/api/', `/${functionName}/`)
    const operation = { ...described, path }
    calls[name] = (input?: AnyOptions) => call(operation, input)
    each[name] = (input?: AnyOptions) => eachItem((page) => call(operation, page), input)
  }
  // SAFETY: the table and the types come from the same openapi.json.
  return { ...calls, each } as unknown as Client
}

async function headersOf(
  options: ClientOptions,
  input: RequestOptions,
  key: string | undefined,
): Promise<Record<string, string>> {
  const orgId = input.orgId ?? options.orgId
  return {
    ...await credentialsOf(options),
    ...orgId === undefined ? {} : { 'x-org-id': orgId },
    ...key === undefined ? {} : { 'idempotency-key': key },
    ...input.ifMatch === undefined ? {} : { 'if-match': input.ifMatch },
  }
}

async function credentialsOf(credentials: Credentials): Promise<Record<string, string>> {
  if ('key' in credentials) return { apikey: credentials.key }
  const { token } = credentials
  return { authorization: `Bearer ${typeof token === 'string' ? token : await token()}` }
}
