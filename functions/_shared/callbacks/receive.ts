import type { Log } from '../log.ts'
import { readBytes } from '../read_bytes.ts'
import { safeString } from '../safe_text.ts'
import { type CallbackAnswer, refuse } from './answer.ts'
import { readBody } from './body.ts'
import type { App, CallbackDatabase, Question } from './database.ts'
import { maxUpdates, ownersOf, parseUpdates } from './parse.ts'
import { isSigned, readSignature, type Signature } from './signature.ts'
import { appKeyForm } from './token.ts'
import type { Update } from './update.ts'

/** WhatsApp's own limit for a callback. */
export const maxBytes = 3 * 1024 * 1024

export type ReceiveDeps = {
  database: CallbackDatabase
  /** For the whole body to come. */
  bodyMs: number
  log: Log
}

/**
 * Takes one callback, addressed to the app with that key, or to whichever app its numbers belong to
 * (null). 200 says that every update of it is stored, anything else that none is: WhatsApp comes
 * again with them for seven days.
 */
export async function receiveCallback(
  request: Request,
  appKey: string | null,
  { database, bodyMs, log }: ReceiveDeps,
): Promise<CallbackAnswer> {
  const signature = readSignature(request.headers.get('x-hub-signature-256'))
  if (signature.kind === 'malformed' || appKey !== null && !appKeyForm.test(appKey)) {
    await request.body?.cancel().catch(() => {})
    return unsigned()
  }
  const read = await readBytes(request, maxBytes, bodyMs)
  switch (read.kind) {
    case 'too_large':
      return refuse('too_large', `The body is larger than ${maxBytes} bytes`)
    case 'late':
      return refuse('request_timeout', `The body did not come within ${bodyMs / 1000} s`)
    case 'broken':
      return refuse('invalid_argument', 'The body broke off')
  }
  const bytes = new Uint8Array(read.body)
  // Nothing of the body is believed before its signature: it only names whose secret to ask for.
  const early = appKey === null ? understand(bytes) : null
  const question = appKey === null ? ownersIn(early) : { appKey }
  if (question === null) return unsigned()
  const found = await database.findApps(question)
  if (!found.ok) return failed('cannot find the app of a callback', found.error, log)
  const signer = findSigner(found.apps, signature, bytes)
  if (typeof signer !== 'string') return signer

  const understood = early ?? understand(bytes)
  if (understood.kind === 'no_object') {
    return refuse('invalid_argument', 'The body is not a JSON object, or is nested too deep')
  }
  if (understood.kind === 'too_many') {
    return refuse('too_large', `The body has more than ${maxUpdates} updates`)
  }
  const orgId = request.headers.get('x-org-id')
  const stored = await database.store({
    appId: signer,
    orgId: orgId === null ? null : safeString(orgId, 200),
    updates: understood.updates,
  })
  if (!stored.ok) return failed('cannot store a callback', stored.error, log)
  const { counts, warnings } = stored
  if (warnings > 0) log('warn', 'a callback has updates that were not applied', { warnings })
  return { kind: 'stored', counts }
}

type Understood =
  | { kind: 'updates'; updates: Update[] }
  | { kind: 'no_object' }
  | { kind: 'too_many' }

function understand(bytes: Uint8Array): Understood {
  const body = readBody(bytes)
  if (body === null) return { kind: 'no_object' }
  const updates = parseUpdates(body)
  return updates === null ? { kind: 'too_many' } : { kind: 'updates', updates }
}

function ownersIn(understood: Understood | null): Question | null {
  return understood?.kind === 'updates' ? ownersOf(understood.updates) : null
}

/** The id of the app that has signed, or that takes what nobody has signed; else the refusal. */
function findSigner(
  apps: readonly App[],
  signature: Signature,
  bytes: Uint8Array,
): string | CallbackAnswer {
  if (signature.kind === 'given') {
    const signer = apps.find(({ secrets }) => isSigned(signature.digest, bytes, secrets))
    if (signer !== undefined) return signer.id
  } else {
    const open = apps.find((app) => app.allowUnsigned)
    if (open !== undefined) return open.id
  }
  const isConfigured = apps.length === 0 || apps.some(({ secrets }) => secrets.length > 0)
  return isConfigured
    ? unsigned()
    : refuse('not_configured', 'The app has no secret: outbox.put_whatsapp_app() sets it')
}

function unsigned(): CallbackAnswer {
  return refuse(
    'unauthenticated',
    'x-hub-signature-256 is missing, malformed, or not made with the secret of the app',
  )
}

function failed(what: string, error: string, log: Log): CallbackAnswer {
  log('error', what, { error })
  return refuse('unavailable', 'Nothing is stored: send it again')
}
