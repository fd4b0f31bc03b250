/** Progress is one line that is replaced on a terminal, and plain lines elsewhere. */

import { expect } from '@std/expect'
import { fileURLToPath } from 'node:url'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { testFolder } from '../_support/folder.ts'
import { runTask } from '../_support/task.ts'
import { runOnTerminal, screen } from '../_support/terminal.ts'
import { startConnectProxy } from '../functions/connect_proxy.ts'

const linux = Deno.build.os === 'linux'
const program = fileURLToPath(new URL('fixtures/progress.ts', import.meta.url))
const deno = [Deno.execPath(), 'run', '-A', '--cached-only', '--no-check']

/** Without the variables that lead to the registry in another way than by the proxy. */
function environment(more: Record<string, string> = {}): Record<string, string> {
  const { HOME = '', PATH = '' } = Deno.env.toObject()
  return { HOME, PATH, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', ...more }
}

Deno.test({
  name: 'on a terminal each progress replaces the one before, and nothing of it stays',
  ignore: !linux,
  async fn(): Promise<void> {
    const { code, raw } = await runOnTerminal([...deno, program], {
      columns: 40,
      cwd: projectRoot,
      env: environment(),
    })
    expect(code).toBe(0)
    expect(raw.split('\r\x1b[K')).toEqual([
      '',
      'fetching packages: 1 of 3',
      'fetching packages: 2 of 3',
      'fetching packages: 3 of 3',
      // A line that wraps could not be replaced.
      'installing a name longer than the termi',
      'packages fetched\r\n',
      'starting',
      'ready\r\n',
    ])
    expect(screen(raw)).toEqual(['packages fetched', 'ready'])
  },
})

Deno.test('without a terminal the first progress is a plain line', async () => {
  const { stdout, stderr } = await new Deno.Command(deno[0] ?? '', {
    args: [...deno.slice(1), program],
    clearEnv: true,
    env: environment(),
    stdin: 'null',
  }).output()
  expect(new TextDecoder().decode(stdout)).toBe('ready\n')
  expect(new TextDecoder().decode(stderr)).toBe('fetching packages: 1 of 3\npackages fetched\n')
})

Deno.test({
  name:
    'a start that cannot fetch shows the same lines in both ways, and no progress on a terminal',
  ignore: !linux,
  async fn(): Promise<void> {
    const folder = testFolder()
    const proxy = startConnectProxy({ status: 407 })
    try {
      const args = ['stack', '--free-ports', '--data-dir', `${folder}/data`]
      const env = environment({ HTTPS_PROXY: proxy.url, DENO_DIR: `${folder}/cache` })
      const [{ code, raw }, plain] = await Promise.all([
        runOnTerminal([...deno, 'supabase/local/begin.ts', ...args], {
          columns: 80,
          cwd: projectRoot,
          env,
        }),
        runTask({ args, env: { ...env, DENO_DIR: `${folder}/other`, https_proxy: '' } }),
      ])
      expect([code, plain.code]).toEqual([1, 1])
      expect(raw).toContain('\r\x1b[Kfetching packages\r\x1b[K')
      const [first, sentence, ...causes] = screen(raw)
      expect(first).toBe('starting the local stack')
      expect(sentence).toMatch(/^The proxy requires a user and a password \(407\)/)
      for (const cause of causes) expect(cause).toMatch(/^ {2}\S/)

      expect(plain.stdout).toBe(`${first}\n`)
      const told = plain.stderr.split('\n')
      expect(told[0]).toBe('fetching packages')
      expect(told.find((line) => line !== told[0])).toBe(sentence)
      for (const control of ['\r', '\x1b']) {
        expect(plain.stdout + plain.stderr).not.toContain(control)
      }
    } finally {
      await proxy.close()
      await Deno.remove(folder, { recursive: true }).catch(() => {})
    }
  },
})
