import { expect } from '@std/expect'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { fixedKey, verifyToken } from '../../../functions/_shared/messages/callbacks/token.ts'

async function run(args: string[], secret?: string): Promise<{ code: number; out: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      'run',
      '--quiet',
      '--no-check',
      '--cached-only',
      '-A',
      'supabase/local/whatsapp_token.ts',
      ...args,
    ],
    cwd: projectRoot,
    env: { OUTHOOK_WHATSAPP_VERIFY_SECRET: secret ?? '', NO_COLOR: '1' },
  }).output()
  const decoder = new TextDecoder()
  return { code, out: decoder.decode(stdout) + decoder.decode(stderr) }
}

Deno.test('task whatsapp:token tells the token of a key, and without one that of the API', async () => {
  const secret = 'n'.repeat(32)
  const key = 'a1b2c3d4e5f60718'
  expect(await run(['--key', key], `${secret},${'o'.repeat(32)}`))
    .toEqual({ code: 0, out: `${verifyToken(secret, key)}\n` })
  expect(await run([], secret)).toEqual({ code: 0, out: `${verifyToken(secret, fixedKey)}\n` })
  const { code, out } = await run([], 'too short')
  expect(code).toBe(1)
  expect(out).toContain('OUTHOOK_WHATSAPP_VERIFY_SECRET')
  expect(out).not.toContain('too short')
})
