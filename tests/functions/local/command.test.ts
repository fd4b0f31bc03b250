import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

async function run(script: string, arg: string): Promise<{ code: number; out: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      'run',
      '-A',
      '--quiet',
      '--cached-only',
      join(projectRoot, 'supabase/local', script),
      arg,
    ],
    cwd: projectRoot,
    env: { NO_COLOR: '1' },
  }).output()
  const decoder = new TextDecoder()
  return { code, out: decoder.decode(code === 0 ? stdout : stderr) }
}

for (const script of ['main.ts', 'start.ts', 'db_build.ts', 'types.ts']) {
  Deno.test(`runCommand() tells for ${script} of the arguments, asked or given a wrong one`, async () => {
    const asked = await run(script, '--help')
    expect(asked).toEqual({ code: 0, out: expect.stringContaining('--help ') })
    const wrong = await run(script, '--frehs')
    expect(wrong.code).toBe(2)
    expect(wrong.out).toContain("Unknown option '--frehs'")
    expect(wrong.out).toContain(asked.out.trim())
  })
}
