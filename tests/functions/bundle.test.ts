import { expect } from '@std/expect'
import { projectRoot } from '../../supabase/local/schema/project.ts'

/** Bytes of each, not minified, and what they were when this was written. */
const functions: [name: string, least: number, most: number][] = [
  // 2.9 MB, 1.0 MB of it kafkajs and amqplib, which are loaded when they are needed.
  ['deliver', 500_000, 5_000_000],
  ['whatsapp', 500_000, 2_000_000],
]

for (const [name, least, most] of functions) {
  Deno.test(`the function ${name} with all it imports is far below ${most / 1e6} MB`, async () => {
    const output = await Deno.makeTempFile({ suffix: '.js' })
    try {
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ['bundle', '--quiet', '--output', output, `functions/${name}/index.ts`],
        cwd: projectRoot,
      }).output()
      expect(success ? '' : new TextDecoder().decode(stderr)).toBe('')
      const { size } = await Deno.stat(output)
      expect(size).toBeGreaterThan(least)
      expect(size).toBeLessThan(most)
    } finally {
      await Deno.remove(output)
    }
  })
}
