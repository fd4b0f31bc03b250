import type { Mutant } from '../mutant.ts'

export const callbacksOverHttp: readonly Mutant[] = [
  {
    file: 'functions/_shared/messages/callbacks/signature.ts',
    find:
      `if (timingSafeEqual(digest, createHmac('sha256', secret).update(bytes).digest())) isKnown = true`,
    replace: 'isKnown = true',
    tests: [
      'functions/_shared/messages/callbacks/receive.test.ts',
      'functions/whatsapp/app.test.ts',
    ],
    why: 'Anybody tells us what became of messages.',
  },
  {
    file: 'functions/_shared/messages/callbacks/receive.ts',
    find: `if (signature.kind === 'none' && app.allowUnsigned) return null`,
    replace: `if (signature.kind === 'none') return null`,
    tests: ['functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'A callback without a signature is taken.',
  },
  {
    file: 'functions/_shared/messages/callbacks/receive.ts',
    find: `signature.kind === 'malformed' || appKey`,
    replace: 'appKey',
    tests: ['functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'Whatever stands in the place of a signature costs a look-up.',
  },
  {
    file: 'functions/_shared/messages/callbacks/receive.ts',
    find: `if (!stored.ok) return failed('cannot store a callback', stored, log)
`,
    replace:
      `if (!stored.ok) return { kind: 'stored', counts: { stored: 0, duplicates: 0, applied: 0, skipped: 0, kept: 0 } }
`,
    tests: ['functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'A callback that could not be stored is answered 200 and lost.',
  },
  {
    file: 'functions/_shared/messages/callbacks/verify.ts',
    find: `only('hub.mode') !== 'subscribe' || token`,
    replace: 'token',
    tests: ['functions/_shared/messages/callbacks/verify.test.ts'],
    why: 'An address is verified in another mode.',
  },
  {
    file: 'functions/_shared/messages/callbacks/verify.ts',
    find: 'challenge === null || !challengeForm.test(challenge)',
    replace: 'challenge === null',
    tests: ['functions/_shared/messages/callbacks/verify.test.ts'],
    why: 'The answer to a challenge is whatever somebody wrote into a link.',
  },
  {
    file: 'functions/_shared/messages/callbacks/token.ts',
    find:
      'if (timingSafeEqual(Buffer.from(token), Buffer.from(verifyToken(secret, key)))) isKnown = true',
    replace: 'isKnown = token.length === 64',
    tests: ['functions/_shared/messages/callbacks/verify.test.ts'],
    why: 'Any token verifies an address.',
  },
  {
    file: 'functions/_shared/messages/callbacks/update.ts',
    find: 'JSON.stringify([kind, ...identity])',
    replace: 'JSON.stringify([...identity])',
    tests: ['functions/_shared/messages/callbacks/update.test.ts'],
    why: 'Two updates of different kinds count as one.',
  },
  {
    file: 'functions/_shared/messages/callbacks/parse.ts',
    find: `if (updates.length === maxUpdates) return null
`,
    replace: '',
    tests: [
      'functions/_shared/messages/callbacks/parse.test.ts',
      'functions/_shared/messages/callbacks/receive.test.ts',
    ],
    why: 'A body of a million updates is parsed.',
  },
  {
    file: 'functions/_shared/messages/callbacks/parse.ts',
    find: `if (object === 'whatsapp_business_account') yield* readChanges(entry)`,
    replace: `if (object !== '') yield* readChanges(entry)`,
    tests: ['functions/_shared/messages/callbacks/parse.test.ts'],
    why: 'A callback about something else is taken for one about messages.',
  },
  {
    file: 'functions/_shared/messages/callbacks/receive.ts',
    find: ' || appKey !== null && !appKeyForm.test(appKey)',
    replace: '',
    tests: ['functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'Anything that stands in an address reaches the database.',
  },
  {
    file: 'functions/_shared/messages/callbacks/receive.ts',
    find: `signature.kind === 'none' ? maxUnsignedBytes : maxBytes`,
    replace: 'maxBytes',
    tests: ['functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'Anybody has 3 MB read and parsed without a signature.',
  },
  {
    file: 'functions/_shared/messages/callbacks/receive.ts',
    find: 'if (app.secrets.length === 0) {',
    replace: 'if (false) {',
    tests: ['functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'Callbacks of an app whose secret is lost are refused for good, and WhatsApp gives up.',
  },
  {
    file: 'functions/_shared/messages/callbacks/receive.ts',
    find: 'appId: verified.id,',
    replace: `appId: appKey ?? '',`,
    tests: ['functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'Callbacks are stored for no app.',
  },
  {
    file: 'sql/messages/channel/app.sql',
    find: 'case when p_app.old_secret_until > p_now then p_app.old_secret_vault_id end',
    replace: 'p_app.old_secret_vault_id',
    tests: ['sql/messages/callback_app/cases.test.sql'],
    why: 'A secret that was replaced, as one does when it leaked, signs on.',
  },
  {
    file: 'sql/messages/channel/app.sql',
    find: `      when p_app_key is not null then a.app_key = p_app_key
      else a.app_id = v_shared`,
    replace: `      when a.app_key = p_app_key then true
      else a.app_id = v_shared`,
    tests: ['sql/messages/callback_app/cases.test.sql'],
    why: 'A wrong key is answered for the app of the shared address.',
  },
  {
    file: 'sql/messages/channel/app.sql',
    find: `      'allow_unsigned', a.allow_unsigned)
    from`,
    replace: `      'allow_unsigned', true)
    from`,
    tests: ['sql/messages/callback_app/cases.test.sql'],
    why: 'Callbacks of every app are taken without a signature.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: 'now() < kept.until',
    replace: 'kept.until > 0',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'What an app has begun to accept is refused until the process ends.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find:
      `if (now() < (unknown.get(appKey) ?? -Infinity)) return { ok: true, app: null, isKept: true }
`,
    replace: '',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'Each callback to an address without an app costs a call to the database.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: 'if (kept === undefined || now() < kept.againFrom) return null',
    replace: 'if (kept === undefined) return null',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'Each forged signature costs a call to the database.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: `kept.againFrom = now() + againMs
`,
    replace: '',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'Each forged signature costs a call to the database, because no read again is remembered.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: 'const againFrom = known.get(appKey)?.againFrom ?? -Infinity',
    replace: 'const againFrom = -Infinity',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why:
      'Each forged signature costs a call to the database, because reading the app forgets the last time.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: `if (shared !== undefined) return { ...await shared, isKept: true }
`,
    replace: '',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'Callbacks for the same key at once each cost a call to the database.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: `if (inFlight + places > mostInFlight) return 'busy'
`,
    replace: '',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'Anybody takes all connections of the database with addresses that name no app.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: 'const places = known.has(appKey) ? 0 : 1',
    replace: 'const places = 1',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'Anybody keeps the callbacks of known apps out with addresses that name no app.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: `inFlight -= places
`,
    replace: '',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'After four unknown keys, no app is found any more.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: `unknown.set(appKey, startedAt + unknownMs)
      dropFirst(unknown, mostUnknown)`,
    replace: 'unknown.set(appKey, startedAt + unknownMs)',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'Anybody fills the memory of the process with keys.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: `dropFirst(known, mostKnown)
`,
    replace: '',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'Apps stay in memory without a limit.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: `const startedAt = now()
    const reply = await findApp(appKey)`,
    replace: `const reply = await findApp(appKey)
    const startedAt = now()`,
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'An app that was read slowly is used for longer.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: 'reply.app.secrets.length === 0 ? unknownMs : knownMs',
    replace: 'knownMs',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'An app that has just got its secret is refused for 5 s.',
  },
  {
    file: 'functions/_shared/messages/callbacks/app_lookup.ts',
    find: '{ ...await shared, isKept: true }',
    replace: '{ ...await shared, isKept: false }',
    tests: ['functions/_shared/messages/callbacks/app_lookup.test.ts'],
    why: 'A secret that ended during the call of another callback is accepted.',
  },
  {
    file: 'functions/_shared/messages/callbacks/receive.ts',
    find: 'if (refusal === null && latest.isKept) {',
    replace: 'if (false) {',
    tests: ['functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'A secret that has leaked and was replaced signs for 5 s.',
  },
  {
    file: 'functions/_shared/messages/callbacks/receive.ts',
    find: `    latest = now
    refusal = refused(latest)
`,
    replace: `    latest = now
`,
    tests: ['functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'The app is read again, and what it says is not used.',
  },
  {
    file: 'functions/_shared/messages/callbacks/receive.ts',
    find: `    latest = again
    refusal = refused(latest)
`,
    replace: `    latest = again
`,
    tests: ['functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'Callbacks that a new secret signed are refused for 5 s.',
  },
  {
    file: 'functions/_shared/messages/callbacks/receive.ts',
    find: 'app = again ?? app',
    replace: '',
    tests: ['functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'An app that has just got a secret, or takes unsigned callbacks, refuses them for longer.',
  },
]
