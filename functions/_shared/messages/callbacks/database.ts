import * as z from 'zod'
import type { Json } from '../../database/database.types.ts'
import type { CallFunction, FunctionReply } from '../../database/functions.ts'
import { type MissingModule, missingModule } from '../../database/modules.ts'
import { isMissingFunction, sameVersionAdvice } from '../../database/versions.ts'
import type { Counts } from './response.ts'
import type { Update } from './update.ts'

/** The Meta app of an address, with the secrets that verify its callbacks. */
export type App = { id: string; secrets: readonly string[]; allowUnsigned: boolean }

/** What is stored in one call: everything or nothing. */
export type Batch = {
  /** The app that signed; numbers of other apps are not its own. */
  appId: string
  /** The only organisation whose updates are applied; null: all. */
  orgId: string | null
  updates: Update[]
}

/** An error text without data of the callback. */
export type Failure = { ok: false; error: string; missing?: MissingModule }

export type AppReply = { ok: true; app: App | null } | Failure
export type StoreReply = { ok: true; counts: Counts; warnings: number } | Failure

/** How many callbacks got a status as their response. */
export type ResponseCount = { status: number; n: number }
export type CountReply = { ok: true } | Failure

/** The database for callbacks. */
export type CallbackDatabase = {
  /** Finds the app of a key; null means the app of the shared address. */
  findApp(appKey: string | null): Promise<AppReply>
  store(batch: Batch): Promise<StoreReply>
}

const appSchema = z.object({
  app: z.object({
    id: z.string(),
    secrets: z.array(z.string()).max(2),
    allow_unsigned: z.boolean(),
  }).nullable(),
})

const storedSchema = z.object({
  stored: z.int(),
  duplicates: z.int(),
  applied: z.int(),
  skipped: z.int(),
  kept: z.int(),
  warnings: z.array(z.unknown()),
})

/** Creates it from a function that calls SQL functions. */
export function callbackDatabase(callFunction: CallFunction): CallbackDatabase {
  async function findApp(appKey: string | null): Promise<AppReply> {
    const reply = await callFunction('callback_app', appKey === null ? {} : { p_app_key: appKey })
    const read = readReply('callback_app', reply, appSchema)
    if (!read.ok) return read
    if (read.data.app === null) return { ok: true, app: null }
    const { allow_unsigned: allowUnsigned, ...app } = read.data.app
    return { ok: true, app: { ...app, allowUnsigned } }
  }

  async function store({ appId, orgId, updates }: Batch): Promise<StoreReply> {
    const reply = await callFunction('receive_callbacks', {
      p_app_id: appId,
      // SAFETY: all members of an update were parsed from JSON.
      p_updates: updates as unknown as Json,
      ...orgId === null ? {} : { p_org_id: orgId },
    })
    const read = readReply('receive_callbacks', reply, storedSchema)
    if (!read.ok) return read
    const { warnings, ...counts } = read.data
    return { ok: true, counts, warnings: warnings.length }
  }

  return { findApp, store }
}

const notedSchema = z.object({ noted: z.boolean() })

/** Creates the function that adds counts of responses in the database. */
export function callbackCounter(
  callFunction: CallFunction,
): (counts: ResponseCount[]) => Promise<CountReply> {
  return async (counts): Promise<CountReply> => {
    const reply = await callFunction('count_callbacks', { p_responses: counts })
    const read = readReply('count_callbacks', reply, notedSchema)
    return read.ok ? { ok: true } : read
  }
}

/** The database's own text is omitted, because it may quote a number or an id. */
function readReply<Result>(
  name: string,
  reply: FunctionReply,
  schema: z.ZodType<Result>,
): { ok: true; data: Result } | Failure {
  if (!reply.ok) {
    const { error, status } = reply
    const text = `outbox.${name} fails with ${status} ${error.code}`.trim()
    const missing = missingModule(name, error)
    if (missing !== null) {
      return { ok: false, error: `${text}: ${missing.problem}; ${missing.remedy}`, missing }
    }
    return { ok: false, error: isMissingFunction(error) ? `${text}; ${sameVersionAdvice}` : text }
  }
  const read = schema.safeParse(reply.data)
  if (read.success) return { ok: true, data: read.data }
  const at = read.error.issues[0]?.path.join('.') ?? ''
  return {
    ok: false,
    error: `Cannot read the result of outbox.${name} at ${at}; ${sameVersionAdvice}`,
  }
}
