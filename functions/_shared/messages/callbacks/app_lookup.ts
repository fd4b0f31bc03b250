import type { AppReply, CallbackDatabase } from './database.ts'

/** How long callbacks are refused with an app without reading it again. */
const knownMs = 5000
/** The same for an app that can verify nothing yet, and for a key without an app. */
const unknownMs = 1000
/** The pause between two reads of an app because of signatures that do not match. */
const againMs = 1000
const mostKnown = 100
const mostUnknown = 256
/** How many keys are looked up at once of which it is not known that they have an app. */
const mostInFlight = 4

/** isKept: an earlier call read it, so it may have changed. */
export type ReadApp = AppReply & { isKept: boolean }

/** `busy`: too many keys are being looked up. */
export type FoundApp = ReadApp | 'busy'

/**
 * Finds the app of a callback. Anybody on the internet can ask, and each question costs a call to the
 * database that all organisations share. So an app that is kept only refuses callbacks; what it would accept
 * is verified again with the app as `confirm` reads it, which a caller without the secret never causes.
 */
export type AppLookup = {
  /** Finds the app of a key; null means the app of the shared address. */
  find(appKey: string | null): Promise<FoundApp>
  /** Reads an app again, whose secrets may be new; null: it was read again less than a second ago. */
  findAgain(appKey: string | null): Promise<FoundApp | null>
  /** Reads the app as it is now, for a callback that has been verified with one that was kept. */
  confirm(appKey: string | null): Promise<ReadApp>
}

type Known = { reply: AppReply; until: number; againFrom: number }

/**
 * Creates the look-up of one process. Keys without an app are kept apart from apps, so that an attacker with
 * many keys makes it forget no app, and they leave the reads of known apps free.
 */
export function createAppLookup(
  findApp: CallbackDatabase['findApp'],
  now: () => number,
): AppLookup {
  const known = new Map<string | null, Known>()
  /** The times until which keys have no app. */
  const unknown = new Map<string | null, number>()
  const pending = new Map<string | null, Promise<AppReply>>()
  let inFlight = 0

  async function find(appKey: string | null): Promise<FoundApp> {
    const kept = known.get(appKey)
    if (kept !== undefined && now() < kept.until) return { ...kept.reply, isKept: true }
    if (now() < (unknown.get(appKey) ?? -Infinity)) return { ok: true, app: null, isKept: true }
    return await read(appKey)
  }

  async function findAgain(appKey: string | null): Promise<FoundApp | null> {
    const kept = known.get(appKey)
    if (kept === undefined || now() < kept.againFrom) return null
    kept.againFrom = now() + againMs
    return await read(appKey)
  }

  /** Requests for the same key share one call. */
  async function read(appKey: string | null): Promise<FoundApp> {
    const shared = pending.get(appKey)
    if (shared !== undefined) return { ...await shared, isKept: true }
    const places = known.has(appKey) ? 0 : 1
    if (inFlight + places > mostInFlight) return 'busy'
    inFlight += places
    const reply = readNow(appKey).finally(() => {
      inFlight -= places
      pending.delete(appKey)
    })
    pending.set(appKey, reply)
    return { ...await reply, isKept: false }
  }

  async function confirm(appKey: string | null): Promise<ReadApp> {
    return { ...await readNow(appKey), isKept: false }
  }

  async function readNow(appKey: string | null): Promise<AppReply> {
    const startedAt = now()
    const reply = await findApp(appKey)
    if (reply.ok) keep(appKey, reply, startedAt)
    return reply
  }

  function keep(appKey: string | null, reply: AppReply & { ok: true }, startedAt: number): void {
    const againFrom = known.get(appKey)?.againFrom ?? -Infinity
    // What is kept anew is the last in its map.
    known.delete(appKey)
    unknown.delete(appKey)
    if (reply.app === null) {
      unknown.set(appKey, startedAt + unknownMs)
      dropFirst(unknown, mostUnknown)
    } else {
      const ms = reply.app.secrets.length === 0 ? unknownMs : knownMs
      known.set(appKey, { reply, until: startedAt + ms, againFrom })
      dropFirst(known, mostKnown)
    }
  }

  return { find, findAgain, confirm }
}

function dropFirst<Key>(map: Map<Key, unknown>, most: number): void {
  const [first] = map.keys()
  if (map.size > most && first !== undefined) map.delete(first)
}
