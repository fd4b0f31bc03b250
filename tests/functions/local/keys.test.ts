import { expect } from '@std/expect'
import { decodeJwt, decodeProtectedHeader, importJWK, jwtVerify } from 'jose'
import { loadKeys } from '../../../supabase/local/keys.ts'
import { testFolder } from '../../_support/folder.ts'

/** A folder of the test's own, removed after it. */
async function withFolder(work: (path: string) => Promise<void>): Promise<void> {
  const path = testFolder()
  await Deno.mkdir(path, { recursive: true })
  try {
    await work(path)
  } finally {
    await Deno.remove(path, { recursive: true })
  }
}

Deno.test('loadKeys() draws keys once per folder and keeps them', async () => {
  await withFolder(async (path) => {
    const [first, again] = [await loadKeys(path), await loadKeys(path)]
    expect({ ...again, signUserJwt: null }).toEqual({ ...first, signUserJwt: null })
    const other = await loadKeys(`${path}/other`)
    expect(other.secretKey).not.toBe(first.secretKey)
    expect(other.anonKey).not.toBe(first.anonKey)
  })
})

Deno.test('loadKeys() stores the keys for their owner alone', async () => {
  await withFolder(async (path) => {
    await loadKeys(path)
    const names = (await Array.fromAsync(Deno.readDir(path))).map(({ name }) => name)
    expect(names).toEqual(['keys.json'])
    expect(((await Deno.stat(`${path}/keys.json`)).mode ?? 0) & 0o777).toBe(0o600)
  })
})

Deno.test('loadKeys() makes legacy keys as the CLI does', async () => {
  await withFolder(async (path) => {
    const keys = await loadKeys(path)
    const secret = new TextEncoder().encode(keys.jwtSecret)
    for (const [key, role] of [[keys.anonKey, 'anon'], [keys.serviceRoleKey, 'service_role']]) {
      const { payload, protectedHeader } = await jwtVerify(key ?? '', secret)
      expect(Object.keys(payload).toSorted()).toEqual(['exp', 'iss', 'role'])
      expect(payload).toMatchObject({ iss: 'supabase-demo', role })
      expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' })
    }
    expect(keys.publishableKey).toMatch(/^sb_publishable_[\w-]{22}$/)
    expect(keys.secretKey).toMatch(/^sb_secret_[\w-]{22}$/)
  })
})

Deno.test('signUserJwt() signs with the key that the JWKS publishes', async () => {
  await withFolder(async (path) => {
    const { jwks, signUserJwt } = await loadKeys(path)
    const [signing, shared] = jwks.keys
    expect([signing?.kty, shared?.kty]).toEqual(['EC', 'oct'])
    expect(signing).not.toHaveProperty('d')
    const token = await signUserJwt({ sub: 'u', app_metadata: { org_id: 'o' } })
    const { payload } = await jwtVerify(token, await importJWK(signing ?? { kty: 'EC' }, 'ES256'))
    expect(payload).toMatchObject({
      role: 'authenticated',
      aud: 'authenticated',
      sub: 'u',
      app_metadata: { org_id: 'o' },
    })
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256', kid: signing?.kid })
    const { iat = 0, exp = 0 } = decodeJwt(token)
    expect(exp - iat).toBe(3600)
  })
})

Deno.test('loadKeys() says what to do when the stored keys are damaged', async () => {
  await withFolder(async (path) => {
    for (const text of ['{', '{"jwtSecret": 1}']) {
      await Deno.writeTextFile(`${path}/keys.json`, text)
      await expect(loadKeys(path)).rejects.toThrow(/keys\.json is damaged: remove it/)
    }
  })
})
