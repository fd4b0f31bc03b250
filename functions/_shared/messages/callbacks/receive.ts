import type { Log } from '../../base/log.ts'
import type { BodyRoom } from '../../http/body_room.ts'
import { isLonger, readBytes } from '../../http/read_bytes.ts'
import { safeString } from '../../base/safe_text.ts'
import { type CallbackResult, refuse } from './response.ts'
import { readBody } from './body.ts'
import type { AppLookup, FoundApp, ReadApp } from './app_lookup.ts'
import type { App, CallbackDatabase, Failure } from './database.ts'
import { maxUpdates, parseUpdates } from './parse.ts'
import { isSigned, readSignature, type Signature } from './signature.ts'
import { appKeyForm } from './token.ts'

/** WhatsApp's own limit for a callback. */
export const maxBytes = 3 * 1024 * 1024

/** The limit for a callback without a signature, which anybody can send. */
export const maxUnsignedBytes = 64 * 1024

export type ReceiveDeps = {
  /** For all bodies of the process that are not verified yet, of the size unverifiedBodies. */
  bodies: BodyRoom
  /** One for all requests of the process. */
  apps: AppLookup
  database: Pick<CallbackDatabase, 'store'>
  /** Until the whole body has arrived. */
  bodyMs: number
  log: Log
}

/**
 * Receives one callback for the app of a key; null means the app of the shared address. `stored` (200)
 * means that all its updates are stored. Otherwise none is stored, and WhatsApp retries for seven days.
 *
 * Before the signature is verified, the cost is a lookup, which is bounded for all callbacks together,
 * reading at most `maxBytes`, whose memory `bodies` bounds for all callbacks together, and one HMAC for each of at
 * most two secrets, or four if the app is read again.
 * The body is not read if the key or the signature is malformed, or if the app is unknown. It is parsed only
 * after the signature is verified.
 */
export async function receiveCallback(
  request: Request,
  appKey: string | null,
  { bodies, apps, database, bodyMs, log }: ReceiveDeps,
): Promise<CallbackResult> {
  const signature = readSignature(request.headers.get('x-hub-signature-256'))
  const leave = async (result: CallbackResult): Promise<CallbackResult> => {
    await request.body?.cancel().catch(() => {})
    return result
  }
  if (signature.kind === 'malformed' || appKey !== null && !appKeyForm.test(appKey)) {
    return await leave(unsigned())
  }
  const max = signature.kind === 'none' ? maxUnsignedBytes : maxBytes
  if (isLonger(request, max)) return await leave(tooLarge(max))
  const found = await apps.find(appKey)
  if (found === 'busy' || !found.ok) return await leave(notFound(found, log))
  let app: ReadApp & { ok: true } = found
  if (app.isKept && refusalOf(app.app, signature, appKey) !== null) {
    const again = await apps.findAgain(appKey)
    if (again === 'busy' || again?.ok === false) return await leave(notFound(again, log))
    app = again ?? app
  }
  const refusal = refusalOf(app.app, signature, appKey)
  if (refusal !== null) return await leave(refusal)

  const place = bodies.enter('unverified')
  let bytes: Uint8Array
  let verified: App | CallbackResult
  try {
    const read = await readBytes(request, max, bodyMs, place)
    switch (read.kind) {
      case 'too_large':
        return tooLarge(max)
      case 'late':
        return refuse('request_timeout', `The body did not arrive within ${bodyMs / 1000} s`)
      case 'crowded':
        return refuse('unavailable', 'Too many bodies arrive at once: send it again')
      case 'broken':
        return refuse('invalid_argument', 'The body ended early')
    }
    bytes = new Uint8Array(read.body)
    verified = await verify(app, { appKey, bytes, signature, apps, log })
  } finally {
    place.leave()
  }
  if ('kind' in verified) return verified
  const body = readBody(bytes)
  if (body === null) {
    return refuse('invalid_argument', 'The body is not a JSON object, or is nested too deep')
  }
  const updates = parseUpdates(body)
  if (updates === null) {
    return refuse('too_large', `The body has more than ${maxUpdates} updates`)
  }
  // An empty header names no organisation.
  const orgId = request.headers.get('x-org-id')?.trim() || null
  const stored = await database.store({
    appId: verified.id,
    orgId: orgId === null ? null : safeString(orgId, 200),
    updates,
  })
  if (!stored.ok) return failed('cannot store a callback', stored, log)
  const { counts, warnings } = stored
  if (warnings > 0) log('warn', 'a callback has updates that were not applied', { warnings })
  return { kind: 'stored', counts }
}

type Received = {
  appKey: string | null
  bytes: Uint8Array
  signature: Signature
  apps: AppLookup
  log: Log
}

/** The app of a callback whose signature is that of the app as it is now, or the response that refuses it. */
async function verify(
  found: ReadApp & { ok: true },
  { appKey, bytes, signature, apps, log }: Received,
): Promise<App | CallbackResult> {
  const refused = ({ app }: ReadApp & { ok: true }): CallbackResult | null =>
    refusalOf(app, signature, appKey) ??
      (signature.kind === 'given' && !isSigned(signature.digest, bytes, app?.secrets ?? [])
        ? unsigned()
        : null)
  let latest = found
  let refusal = refused(latest)
  if (refusal !== null) {
    // Its secret may have been replaced since it was read.
    const again = await apps.findAgain(appKey)
    if (again === null) return refusal
    if (again === 'busy' || !again.ok) return notFound(again, log)
    latest = again
    refusal = refused(latest)
  }
  if (refusal === null && latest.isKept) {
    const now = await apps.confirm(appKey)
    if (!now.ok) return notFound(now, log)
    latest = now
    refusal = refused(latest)
  }
  return refusal ?? latest.app ?? unsigned()
}

/** Why no callback of this app can be accepted; null if one can. */
function refusalOf(
  app: App | null,
  signature: Signature,
  appKey: string | null,
): CallbackResult | null {
  if (app === null) {
    return appKey === null
      ? refuse(
        'not_configured',
        'The shared address has no app: set the setting whatsapp.shared_app, or use the ' +
          'address with the app key',
      )
      : unsigned()
  }
  if (signature.kind === 'none' && app.allowUnsigned) return null
  if (app.secrets.length === 0) {
    return refuse('not_configured', 'The app has no secret: set it with outbox.put_whatsapp_app()')
  }
  return signature.kind === 'given' ? null : unsigned()
}

function tooLarge(max: number): CallbackResult {
  return refuse('too_large', `The body is larger than ${max} bytes`)
}

function unsigned(): CallbackResult {
  return refuse(
    'unauthenticated',
    'x-hub-signature-256 is missing, malformed, or signed with another secret',
  )
}

/** The database was not asked, or did not respond; being busy is not logged for each of many callbacks. */
function notFound(found: Exclude<FoundApp, { ok: true }>, log: Log): CallbackResult {
  if (found !== 'busy') return failed('cannot find the app of a callback', found, log)
  return refuse('unavailable', 'Too many callbacks for unknown apps arrive: send it again')
}

function failed(what: string, { error, missing }: Failure, log: Log): CallbackResult {
  log('error', what, { error })
  if (missing !== undefined) {
    return refuse('module_missing', `${missing.problem}: ${missing.remedy}`)
  }
  return refuse('unavailable', 'Nothing is stored: send it again')
}
