/**
 * The keys of one local project, in the format of the Supabase CLI. They are random for each data
 * folder, because a constant private key would be public.
 */
import { Buffer } from 'node:buffer'
import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose'
import { z } from 'zod'

/** All keys and secrets of a stack. */
export interface StackKeys {
  /** Legacy JWT (HS256) of the role `anon`. */
  anonKey: string
  /** Legacy JWT (HS256) of the role `service_role`. */
  serviceRoleKey: string
  /** `sb_publishable_…`, for the `apikey` header; its role is `anon`. */
  publishableKey: string
  /** `sb_secret_…`, for the `apikey` header; its role is `service_role`. */
  secretKey: string
  /** The secret of the legacy keys. */
  jwtSecret: string
  /** The keys that verify tokens: the public signing key, and the legacy secret as an `oct` key. */
  jwks: { keys: JWK[] }
  /** Shared by the database (in Vault) and the function `deliver`: signs kicks. */
  workerSecret: string
  /** Signs portal tokens of the function `api`. */
  portalSecret: string
  /** Signs webhooks to the function `example-consumer`: `whsec_…`. */
  exampleSecret: string
  /** The secret of WhatsApp's verify tokens. */
  verifySecret: string
  /** The bearer token for the function `metrics`. */
  metricsToken: string
  /**
   * Signs a user's token (ES256), as the platform's Auth does.
   *
   * @param claims Override the defaults: `role` and `aud` `authenticated`, a random `sub`, `iat`
   *   now, `exp` in one hour (unix seconds).
   */
  signUserJwt(claims?: JWTPayload): Promise<string>
}

/** The stored keys, which cannot be derived from others. */
const storedKeys = z.object({
  jwtSecret: z.string(),
  publishableKey: z.string(),
  secretKey: z.string(),
  workerSecret: z.string(),
  /** Unix seconds; stored so that the legacy keys stay the same. */
  legacyKeysExpire: z.number().int(),
  signingKey: z.looseObject({
    kty: z.literal('EC'),
    crv: z.string(),
    x: z.string(),
    y: z.string(),
    d: z.string(),
    kid: z.string(),
  }),
})

type StoredKeys = z.infer<typeof storedKeys>

/** Ten years in seconds, about the lifetime of the CLI's legacy keys. */
const LEGACY_KEY_LIFE_S = 10 * 365 * 24 * 3600

/**
 * Reads the keys of a data folder; generates and stores them (mode 0600) if there are none.
 *
 * @param dataDir The stack's data folder; the file is `keys.json` in it.
 * @throws SetupError if the file cannot be read as keys; removing it generates new ones.
 */
export async function loadKeys(dataDir: string): Promise<StackKeys> {
  const path = join(dataDir, 'keys.json')
  const text = await readIfThere(path)
  if (text !== null) return await deriveKeys(parseStored(text, path))
  const stored = await drawKeys()
  await Deno.mkdir(dataDir, { recursive: true })
  await writeWhole(path, JSON.stringify(stored, null, 2))
  return await deriveKeys(stored)
}

async function drawKeys(): Promise<StoredKeys> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const signingKey = await exportJWK(privateKey)
  return storedKeys.parse({
    jwtSecret: randomBytes(32).toString('base64url'),
    publishableKey: `sb_publishable_${randomBytes(16).toString('base64url')}`,
    secretKey: `sb_secret_${randomBytes(16).toString('base64url')}`,
    workerSecret: randomBytes(32).toString('base64url'),
    legacyKeysExpire: Math.floor(Date.now() / 1000) + LEGACY_KEY_LIFE_S,
    signingKey: { ...signingKey, kid: crypto.randomUUID(), alg: 'ES256', use: 'sig' },
  })
}

async function deriveKeys(stored: StoredKeys): Promise<StackKeys> {
  const { signingKey, legacyKeysExpire, ...secrets } = stored
  const { d: _private, ...publicKey } = signingKey
  const privateKey = await importJWK(signingKey, 'ES256')
  const oct: JWK = { kty: 'oct', k: Buffer.from(secrets.jwtSecret).toString('base64url') }
  return {
    ...secrets,
    // Derived, so that keys.json files of older versions stay complete.
    portalSecret: deriveSecret(secrets.jwtSecret, 'outhook portal'),
    verifySecret: deriveSecret(secrets.jwtSecret, 'outhook verify'),
    exampleSecret: `whsec_${
      createHmac('sha256', secrets.jwtSecret).update('outhook example').digest('base64')
    }`,
    metricsToken: deriveSecret(secrets.jwtSecret, 'outhook metrics'),
    anonKey: await signLegacyKey('anon', legacyKeysExpire, secrets.jwtSecret),
    serviceRoleKey: await signLegacyKey('service_role', legacyKeysExpire, secrets.jwtSecret),
    jwks: { keys: [publicKey, oct] },
    async signUserJwt(claims: JWTPayload = {}): Promise<string> {
      const now = Math.floor(Date.now() / 1000)
      return await new SignJWT({
        role: 'authenticated',
        aud: 'authenticated',
        sub: crypto.randomUUID(),
        iat: now,
        exp: now + 3600,
        ...claims,
      }).setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: signingKey.kid }).sign(
        privateKey,
      )
    },
  }
}

function deriveSecret(secret: string, purpose: string): string {
  return createHmac('sha256', secret).update(purpose).digest('hex')
}

/** The platform's legacy keys have no `sub`, `aud`, `iat` or `kid`. */
async function signLegacyKey(role: string, expires: number, jwtSecret: string): Promise<string> {
  return await new SignJWT({ iss: 'supabase-demo', role, exp: expires })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(jwtSecret))
}

function parseStored(text: string, path: string): StoredKeys {
  try {
    return storedKeys.parse(JSON.parse(text))
  } catch (cause) {
    throw new Error(
      `Cannot read the keys: ${path} is damaged: remove it, and the next start generates new keys`,
      { cause },
    )
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path)
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null
    throw error
  }
}

/** Writes a temporary file and renames it, so that an interrupted start leaves no incomplete file. */
async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${Deno.pid}`
  await Deno.writeTextFile(draft, text, { mode: 0o600 })
  await Deno.rename(draft, path)
}
