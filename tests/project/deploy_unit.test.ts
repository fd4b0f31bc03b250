/** The unit of systemd in deploy/, and the figures of the page on workers. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { workerFlags, workerThreads } from '../../functions/_shared/runtime/node_runtime.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { docs } from './_docs.ts'

const unit = await Deno.readTextFile(join(projectRoot, 'deploy/systemd/outhook-worker@.service'))

/** Whether this machine has what checks units. */
async function hasAnalyze(): Promise<boolean> {
  try {
    return (await new Deno.Command('systemd-analyze', { args: ['--version'] }).output()).success
  } catch {
    return false
  }
}

/** Checks the unit as an instance, with a program that is on this machine in the place of Node. */
async function analyze(...args: string[]): Promise<{ code: number; said: string[] }> {
  const folder = await Deno.makeTempDir()
  const path = join(folder, 'outhook-worker@1.service')
  try {
    await Deno.writeTextFile(path, unit.replace('=/usr/bin/node ', `=${Deno.execPath()} `))
    const { code, stdout, stderr } = await new Deno.Command('systemd-analyze', {
      args: [...args, path],
      env: { SYSTEMD_COLORS: '0', LANG: 'C' },
    }).output()
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)
    return { code, said: text.split('\n').filter((line) => line !== '') }
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
}

Deno.test({
  name: 'systemd accepts the unit, but for settings of newer versions',
  ignore: !await hasAnalyze(),
  async fn(): Promise<void> {
    const { code, said } = await analyze('verify')
    const others = said.filter((line) =>
      // Units of the machine itself may have faults.
      line.includes('outhook-worker') &&
      !/Unknown key (name )?'(RestartSteps|RestartMaxDelaySec)'/.test(line)
    )
    expect([code, others]).toEqual([0, []])
  },
})

Deno.test({
  name: 'systemd rates the exposure of the unit as low',
  ignore: !await hasAnalyze(),
  async fn(): Promise<void> {
    // In tenths: 2.0 of 10.
    const { code, said } = await analyze(
      'security',
      '--offline=yes',
      '--threshold=20',
      '--no-pager',
    )
    const rated = said.filter((line) => line.includes('exposure level'))
    expect([code, rated]).toEqual([0, [expect.any(String)]])
  },
})

Deno.test('the unit starts the worker with its flags, and not again if a variable is invalid', () => {
  expect(unit).toContain(
    `ExecStart=/usr/bin/node ${workerFlags.join(' ')} /opt/outhook/worker.mjs\n`,
  )
  expect(unit).toContain(`UV_THREADPOOL_SIZE=${workerThreads}\n`)
  expect(unit).toContain('RestartPreventExitStatus=2\n')
  expect(unit).toContain('KillSignal=SIGTERM\n')
})

/** The cells of the first row with this name below the heading. */
function row(heading: string, name: string): string[] {
  const [, below = ''] = docs.get('docs/performance.md')?.split(`\n## ${heading}\n`) ?? []
  const line = below.split('\n').find((one) => one.startsWith(`| ${name} `))
  return (line ?? '').split('|').map((cell) => cell.trim()).filter((cell) => cell !== '')
}

Deno.test('the page on workers has the figures of the page on performance', () => {
  const page = docs.get('docs/workers.md') ?? ''
  const [, , , worker, store] = row('Deliveries a second', 'outhook direct')
  const memory = row('Deliveries a second', 'outhook direct').at(-1)
  expect(page).toContain(`[${worker} µs](performance.md#deliveries-a-second)`)
  expect(page).toContain(`[${store} µs](performance.md#deliveries-a-second)`)
  expect(page).toContain(`[${memory} MB](performance.md#deliveries-a-second)`)
  const [, below = ''] = docs.get('docs/performance.md')?.split('\n## With more workers\n') ?? []
  const speeds = [
    ...below.split('\n## ')[0]?.matchAll(/^\| outhook direct \| \d \| +([\d,]+) /gm) ?? [],
  ]
    .map(([, speed]) => speed)
  expect(speeds).toHaveLength(4)
  expect(page).toContain(`[${speeds.join(', ')}](performance.md#with-more-workers)`)
})
