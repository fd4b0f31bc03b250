import { z } from 'zod'
import type { Json } from '../../database/database.types.ts'
import type { CallFunction, FunctionReply } from '../../database/functions.ts'
import { type MissingModule, missingModule } from '../../database/modules.ts'
import { isMissingFunction, sameVersionAdvice } from '../../database/versions.ts'
import type { Counts } from './answer.ts'
import type { Update } from './update.ts'

/** The Meta app of an address, with the secrets that verify its callbacks. */
export type App = { id: string; secrets: readonly string[]; allowUnsigned: boolean }

/** What is stored in one call: everything or nothing. */
export type Batch = {
  /** The app that has signed: a number of another app is none of its business. */
  appId: string
  /** The organisation that the caller narrows it to. */
  orgId: string | null
  updates: Update[]
}

/** An error in words that hold nothing of what was sent. */
export type Failure = { ok: false; error: string; missing?: MissingModule }

export type AppReply = { ok: true; app: App | null } | Failure
export type StoreReply = { ok: true; counts: Counts; warnings: number } | Failure

/** What the callback address asks of the database. */
export type CallbackDatabase = {
  /** Finds the app with that key; null means the app of the shared address. */
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

/** Makes it of whatever calls functions. */
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
      // SAFETY: whatever an update holds was read from JSON.
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

/** The database's own words stay out of an error: they may quote a number or an id. */
function readReply<Answer>(
  name: string,
  reply: FunctionReply,
  schema: z.ZodType<Answer>,
): { ok: true; data: Answer } | Failure {
  if (!reply.ok) {
    const { error, status } = reply
    const said = `outbox.${name} answers ${status} ${error.code}`.trim()
    const missing = missingModule(name, error)
    if (missing !== null) {
      return { ok: false, error: `${said}: ${missing.problem}; ${missing.remedy}`, missing }
    }
    return { ok: false, error: isMissingFunction(error) ? `${said}; ${sameVersionAdvice}` : said }
  }
  const read = schema.safeParse(reply.data)
  if (read.success) return { ok: true, data: read.data }
  const at = read.error.issues[0]?.path.join('.') ?? ''
  return {
    ok: false,
    error: `Cannot read the result of outbox.${name} at ${at}; ${sameVersionAdvice}`,
  }
}
