import { z } from 'zod'
import type { Json } from '../database.types.ts'
import type { CallFunction, FunctionReply } from '../database/functions.ts'
import { isMissingFunction, sameVersionAdvice } from '../database/versions.ts'
import type { Counts } from './answer.ts'
import type { Owners } from './parse.ts'
import type { Update } from './update.ts'

/** A Meta app that may have signed a callback. */
export type App = { id: string; secrets: readonly string[]; allowUnsigned: boolean }

/** Whose app is asked for: the one with a key, or those of numbers, or else of accounts. */
export type Question = { appKey: string } | Owners

/** What is stored in one call: everything or nothing. */
export type Batch = {
  /** The app that has signed: a number of another app is none of its business. */
  appId: string
  /** The organisation that the caller narrows it to. */
  orgId: string | null
  updates: Update[]
}

/** An error in words that hold nothing of what was sent. */
export type Failure = { ok: false; error: string }

export type AppsReply = { ok: true; apps: App[] } | Failure
export type StoreReply = { ok: true; counts: Counts; warnings: number } | Failure

/** What the callback address asks of the database. */
export type CallbackDatabase = {
  findApps(question: Question): Promise<AppsReply>
  store(batch: Batch): Promise<StoreReply>
}

const appsSchema = z.object({
  apps: z.array(
    z.object({ id: z.string(), secrets: z.array(z.string()), allow_unsigned: z.boolean() }),
  ),
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
  async function findApps(question: Question): Promise<AppsReply> {
    const owners = 'appKey' in question
      ? { p_app_key: question.appKey }
      : { p_phone_number_ids: question.phoneNumberIds, p_waba_ids: question.wabaIds }
    const reply = await callFunction('callback_apps', owners)
    const read = readReply('callback_apps', reply, appsSchema)
    if (!read.ok) return read
    const apps = read.data.apps.map(({ allow_unsigned: allowUnsigned, ...app }) => ({
      ...app,
      allowUnsigned,
    }))
    return { ok: true, apps }
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

  return { findApps, store }
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
    return { ok: false, error: isMissingFunction(error) ? `${said}; ${sameVersionAdvice}` : said }
  }
  const read = schema.safeParse(reply.data)
  if (read.success) return { ok: true, data: read.data }
  const at = read.error.issues[0]?.path.join('.') ?? ''
  return {
    ok: false,
    error: `Cannot read the answer of outbox.${name} at ${at}; ${sameVersionAdvice}`,
  }
}
