/** The runner installs what the chosen tests need, and nothing else. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { listFiles } from '../_run/files.ts'
import { type Need, needsOf, programsOf } from '../_run/needs.ts'
import { reachedFrom } from '../_run/sources.ts'
import { cloneProject } from '../_support/clone.ts'
import { testFolder } from '../_support/folder.ts'
import { startConnectProxy } from '../functions/connect_proxy.ts'

async function needs(...files: string[]): Promise<string[]> {
  return [...needsOf(await reachedFrom(projectRoot, files))].sort()
}

Deno.test('a unit test and a pgTAP file need little', async () => {
  expect(await needs('tests/project/run_tally.test.ts')).toEqual([])
  expect(
    await needs('tests/sql/engine/claim/bytes.test.sql', 'tests/functions/local/trust.test.ts'),
  )
    .toEqual(['postgres'])
})

const testFiles = (await Promise.all(
  ['.test.ts', '.soak.ts'].map((ending) => listFiles(projectRoot, 'tests', ending)),
)).flat()

const sourcesOf = new Map(
  await Promise.all(
    testFiles.map(async (file) => [file, await reachedFrom(projectRoot, [file])] as const),
  ),
)

/** The files that need what takes long to install. */
function neededBy(need: Need): string[] {
  return testFiles.filter((file) => needsOf(sourcesOf.get(file) ?? new Map()).has(need))
}

for (
  const [need, files] of [
    [
      'brokers',
      /^tests\/(e2e\/broker_\w+|consumer\/(into\/)?\w+|package\/(consume|into)|soak\/\w+)\.(test|soak)\.ts$/,
    ],
    [
      'supabase',
      /^tests\/(e2e\/cli_\w+|package\/migrate_from(_order)?|project\/ops_queries|functions\/local\/command)\.test\.ts$/,
    ],
    [
      'edge Deno',
      /^tests\/(e2e\/(broker_\w+|cli_deploy)|start\/certificates|package\/functions)\.test\.ts$/,
    ],
    ['redocly', /^tests\/project\/openapi\.test\.ts$/],
    ['typescript client', /^tests\/(e2e\/api_(clients|operations)|project\/openapi)\.test\.ts$/],
    ['bun', /^tests\/package\/(bun|registry)\.test\.ts$/],
    ['registry', /^tests\/package\/registry\.test\.ts$/],
    ['package tools', /^tests\/package\/\w+\.test\.ts$/],
    ['receiver packages', /^tests\/(project\/docs_\w+|package\/\w+)\.test\.ts$/],
    ['react packages', /^tests\/portal\/react\.test\.ts$/],
    [
      'bundler',
      /^tests\/(functions\/bundle|package\/(api_commands|check|console_packed|consume|container|deploy|functions|init|into|listen|move_org|registry|spread_org|uninstall|upgrade|worker))\.test\.ts$/,
    ],
    [
      'Node',
      /^tests\/(e2e\/(broker_\w+|delivery_worker)|functions\/(_shared\/connect\/\w+|deliver\/worker)|package\/(consume|container|into|worker)|project\/worker_build)\.test\.ts$/,
    ],
  ] as const
) {
  Deno.test(`only the tests that use it need: ${need}`, () => {
    const found = neededBy(need)
    expect(found.length).toBeGreaterThan(0)
    for (const file of found) expect(file).toMatch(files)
  })
}

Deno.test('every test that calls for an installation is known to need it', () => {
  // The bare Debian installs its own programs in its own root.
  for (const file of testFiles.filter((path) => !path.includes('bare_debian'))) {
    const sources = sourcesOf.get(file) ?? new Map<string, string>()
    const text = [...sources].filter(([path]) =>
      path.startsWith('tests/') && !path.includes('/_run/')
    )
      .map(([, source]) => source).join('\n')
    const calls =
      /\b(ensureTool|ensurePackages|receiverPackages|reactPackages|runCli|ensureBrokers)\(/.exec(
        text,
      )
    if (calls !== null && needsOf(sources).size === 0) throw new Error(`${file}: ${calls[0]}`)
  }
})

Deno.test('a test is known to need the programs that it starts', async () => {
  const programs = async (file: string): Promise<string[]> =>
    programsOf(await reachedFrom(projectRoot, [file]), [
      'git',
      'curl',
      'openssl',
      'python3',
      'nginx',
    ])
  expect(await programs('tests/project/docs_first_webhook.test.ts')).toContain('curl')
  expect(await programs('tests/start/certificates.test.ts')).toContain('openssl')
  expect(await programs('tests/soak/servers.soak.ts')).toContain('nginx')
  expect(await programs('tests/soak/kills.soak.ts')).not.toContain('nginx')
  expect(await programs('tests/project/run_tally.test.ts')).toEqual([])
})

Deno.test('a word that selects a unit test installs nothing in a new clone', async () => {
  const folder = testFolder()
  const clone = join(folder, 'clone')
  await cloneProject(clone)
  const proxy = startConnectProxy({ status: 502 })
  try {
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ['run', '-A', '--cached-only', 'tests/run.ts', 'project/run_tally'],
      cwd: clone,
      env: {
        HTTPS_PROXY: proxy.url,
        https_proxy: proxy.url,
        NO_COLOR: '1',
        DENO_NO_UPDATE_CHECK: '1',
      },
      stdin: 'null',
    }).output()
    const text = new TextDecoder().decode(stdout)
    expect(text).not.toContain('setup:')
    expect(text).toMatch(/^[1-9]\d* passed, 0 failed$/m)
    expect(code).toBe(0)
    expect(proxy.asked).toEqual([])
    expect(await Array.fromAsync(Deno.readDir(clone), ({ name }) => name)).not.toContain('.outhook')
  } finally {
    await proxy.close()
    await Deno.remove(folder, { recursive: true })
  }
})
