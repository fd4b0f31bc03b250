import { expect } from '@std/expect'
import { projectRoot } from '../../supabase/local/schema/project.ts'

/** Bytes of each, not minified. */
const functions: [entry: string, least: number, most: number][] = [
  // 1.0 MB of it is kafkajs and amqplib.
  ['deliver/index.ts', 1_000_000, 2_000_000],
  ['deliver/webhooks.ts', 100_000, 600_000],
  ['whatsapp/index.ts', 400_000, 2_000_000],
]

for (const [entry, least, most] of functions) {
  Deno.test(`the function ${entry} with all it imports is below ${most / 1e6} MB`, async () => {
    const output = await Deno.makeTempFile({ suffix: '.js' })
    try {
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ['bundle', '--quiet', '--output', output, `functions/${entry}`],
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
