import { expect } from '@std/expect'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

Deno.test('the function deliver with all it imports is far below 5 MB', async () => {
  const output = await Deno.makeTempFile({ suffix: '.js' })
  try {
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ['bundle', '--quiet', '--output', output, 'functions/deliver/index.ts'],
      cwd: projectRoot,
    }).output()
    expect(success ? '' : new TextDecoder().decode(stderr)).toBe('')
    const { size } = await Deno.stat(output)
    // 1.8 MB with supabase-js 2.119 and zod 4.6, 0.8 MB of it when minified.
    expect(size).toBeGreaterThan(500_000)
    expect(size).toBeLessThan(5_000_000)
  } finally {
    await Deno.remove(output)
  }
})
