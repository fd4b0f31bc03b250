import type { Mutant } from '../mutant.ts'

export const secrets: readonly Mutant[] = [
  {
    file: 'functions/deliver/attempt.ts',
    find: 'outcome = maskSecrets(await sender.send(delivery, endpoint, sent, deps), endpoint)',
    replace: 'outcome = await sender.send(delivery, endpoint, sent, deps)',
    tests: ['functions/deliver/mask.test.ts'],
    why:
      'A receiver that repeats its request shows the custom headers to every reader of attempts.',
  },
  {
    file: 'functions/deliver/mask.ts',
    find: '  let masked = isCut ? maskStart(text, forms) : text',
    replace: '  let masked = text',
    tests: ['functions/deliver/mask.test.ts'],
    why: 'Most of a secret is stored if the stored part of the response ends within it.',
  },
  {
    file: 'functions/deliver/mask.ts',
    find: `  if (name === 'retry_after') return retryAfter.test(value)\n`,
    replace: '',
    tests: ['functions/deliver/mask.test.ts'],
    why: 'A Retry-After that is equal to a header is lost, and the retry comes at another time.',
  },
  {
    file: 'sql/endpoints/secret.sql',
    find: 'v.decrypted_secret order by s.expires_at is null desc, s.created_at desc, s.id)',
    replace: 'v.decrypted_secret order by s.created_at)',
    tests: [
      'sql/endpoints/rotate_secret/overlap.test.sql',
      'sql/endpoints/rotate_secret/schemes.test.sql',
    ],
    why: 'x-signature is made with the old secret after a rotation.',
  },
  {
    file: 'sql/endpoints/secret.sql',
    find: 'order by s.expires_at is null desc, s.created_at desc, s.id))',
    replace: 'order by s.expires_at is null desc, s.created_at desc))',
    tests: ['sql/endpoints/rotate_secret/overlap.test.sql'],
    why: 'Secrets that were replaced at one moment are listed in an order that changes.',
  },
  {
    file: 'sql/endpoints/secret.sql',
    find: 'and (s.expires_at is null or s.expires_at > p_now);',
    replace: ';',
    tests: ['sql/endpoints/rotate_secret/overlap.test.sql'],
    why: 'A secret that has expired signs on.',
  },
  {
    file: 'sql/endpoints/secret.sql',
    find: `filter (where s.scheme = 'v1' and s.expires_at is null)`,
    replace: 'filter (where s.expires_at is null)',
    tests: ['sql/endpoints/rotate_secret/schemes.test.sql'],
    why: 'read_secret() shows the private key of an endpoint.',
  },
  {
    file: 'sql/endpoints/secret_rotation.sql',
    find: 'if v_old > v_most then',
    replace: 'if v_old >= v_most then',
    tests: [
      'sql/endpoints/rotate_secret/overlap.test.sql',
      'sql/endpoints/rotate_secret/schemes.test.sql',
    ],
    why: 'A fifth old secret is refused.',
  },
  {
    file: 'sql/endpoints/secret_rotation.sql',
    find: `elsif v_secret.scheme = 'v1' and v_secret.expires_at is null then`,
    replace: 'elsif false then',
    tests: [
      'sql/endpoints/rotate_secret/overlap.test.sql',
      'sql/endpoints/rotate_secret/schemes.test.sql',
    ],
    why: 'An endpoint is left without a secret, and its deliveries fail.',
  },
  {
    file: 'sql/endpoints/secret_rotation.sql',
    find: `o.expires_at <= p_now - interval '5 minutes'`,
    replace: 'o.expires_at <= p_now',
    tests: [
      'sql/time/cleanup/parts.test.sql',
      'sql/engine/dispatch/known.test.sql',
      'sql/endpoints/rotate_secret/overlap.test.sql',
    ],
    why: 'A run that knows an endpoint signs on with a secret that has expired.',
  },
  {
    file: 'sql/endpoints/secret_rotation.sql',
    find: `p_overlap > interval '30 days' then`,
    replace: `p_overlap > interval '31 days' then`,
    tests: ['sql/endpoints/rotate_secret/bounds.test.sql'],
    why: 'An old secret signs for longer than said.',
  },
  {
    file: 'sql/endpoints/secret_rotation.sql',
    find: `if p_overlap = interval '0' then`,
    replace: 'if false then',
    tests: [
      'sql/endpoints/rotate_secret/overlap.test.sql',
      'sql/endpoints/rotate_secret/schemes.test.sql',
    ],
    why: 'A leaked secret of an earlier rotation signs on.',
  },
  {
    file: 'sql/endpoints/secret_rotation.sql',
    find: 's.scheme = v_scheme and s.expires_at > v_now;',
    replace: 's.expires_at > v_now;',
    tests: ['sql/endpoints/rotate_secret/schemes.test.sql'],
    why: 'A leaked secret of one scheme ends those of the other.',
  },
  {
    file: 'sql/endpoints/secret_rotation.sql',
    find: `where s.endpoint_id = p_endpoint_id and s.scheme = v_scheme and s.expires_at is null
`,
    replace: `where s.endpoint_id = p_endpoint_id and s.expires_at is null
`,
    tests: ['sql/endpoints/rotate_secret/schemes.test.sql'],
    why: 'A new ed25519 key ends the shared secret.',
  },
  {
    file: 'sql/endpoints/secret_form.sql',
    find: 'v_length not between 24 and 64',
    replace: 'v_length not between 16 and 64',
    tests: ['sql/endpoints/create_endpoint/secret.test.sql'],
    why: 'A secret of 16 bytes is taken.',
  },
  {
    file: 'sql/endpoints/headers.sql',
    find: `'host', 'http2-settings'`,
    replace: `'http2-settings'`,
    tests: ['sql/endpoints/set_headers/stored.test.sql', 'sql/same_rules.test.ts'],
    why: `A customer's header Host reaches another host behind the same address.`,
  },
  {
    file: 'sql/endpoints/headers.sql',
    find: `pg_catalog.lower(n) not in (
      select pg_catalog.lower(k)`,
    replace: `n not in (
      select k`,
    tests: ['sql/endpoints/set_headers/stored.test.sql'],
    why: 'A header that is set in other letters stands there twice.',
  },
  {
    file: 'sql/endpoints/headers.sql',
    find: `  delete from vault.secrets v where v.id = v_old;
`,
    replace: '',
    tests: ['sql/endpoints/set_headers/stored.test.sql'],
    why: 'A replaced credential stays in Vault for ever.',
  },
  {
    file: 'sql/engine/claim/batch.sql',
    find: `and s.expires_at > p_now - interval '1 minute'`,
    replace: 'and s.expires_at > p_now',
    tests: ['sql/engine/dispatch/known.test.sql'],
    why: 'A run that knows an endpoint is not told that one of its secrets has expired.',
  },
  {
    file: 'sql/engine/claim/batch.sql',
    find: `where p_known ->> e.id::text is distinct from e.revision`,
    replace: `where p_known ->> e.id::text is null`,
    tests: ['sql/engine/dispatch/known.test.sql'],
    why: 'A run goes on with an endpoint as it was before its change.',
  },
  {
    file: 'functions/deliver/secret_forms.ts',
    find: "/[&'+<>`]/g",
    replace: '/[<>]/g',
    tests: ['functions/deliver/mask.test.ts'],
    why: 'A receiver in .NET repeats a base64 secret with its plus as an escape.',
  },
]
