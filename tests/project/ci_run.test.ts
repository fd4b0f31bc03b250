/** .ci/run with commands that stand in for the tests: what it prints, and how it ends. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { listFiles } from '../_run/files.ts'
import { parseOptions } from '../_run/options.ts'
import { makeFilter } from '../_run/selection.ts'
import { testSteps } from '../_run/steps.ts'
import { testFolder } from '../_support/folder.ts'

/** Runs a copy of .ci/run whose `npx` is the given shell text, `$3` being `task` and `$4` its name. */
async function runCi(npx: string, seconds = 0): Promise<{ code: number; lines: string[] }> {
  const folder = testFolder()
  try {
    await Deno.mkdir(`${folder}/.ci`, { recursive: true })
    await Deno.copyFile(join(projectRoot, '.ci/run'), `${folder}/.ci/run`)
    await Deno.writeTextFile(`${folder}/.ci/cold`, '#!/bin/sh\necho cold\n', { mode: 0o755 })
    await Deno.mkdir(`${folder}/bin`)
    await Deno.writeTextFile(`${folder}/bin/npx`, `#!/bin/sh\n${npx}\n`, { mode: 0o755 })
    const { code, stdout } = await new Deno.Command('bash', {
      args: [`${folder}/.ci/run`],
      // bash counts on from SECONDS.
      env: { PATH: `${folder}/bin:${Deno.env.get('PATH')}`, SECONDS: String(seconds) },
    }).output()
    return { code, lines: new TextDecoder().decode(stdout).trimEnd().split('\n') }
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
}

const passed = '7 passed, 0 failed, 1 skipped'

Deno.test('.ci/run prints the time of each part, and last what all of them came to', async () => {
  const { code, lines } = await runCi(`shift 3; echo "$*"; echo "${passed}"`)
  expect(code).toBe(0)
  expect(lines.slice(0, 6).map((line) => line.trimEnd())).toEqual([
    'cold',
    'test --all --again 3',
    passed,
    expect.stringMatching(
      /^test --postgres 17 --again 3 --short schema pgTAP concurrency\/ e2e\/cli_stack e2e/,
    ),
    passed,
    'soak --short',
  ])
  expect(lines.slice(-7)).toEqual([
    'The parts of .ci/run:',
    expect.stringMatching(/^cold +0 min 0\d s$/),
    expect.stringMatching(/^test +0 min 0\d s$/),
    expect.stringMatching(/^on 17 +0 min 0\d s$/),
    expect.stringMatching(/^soak +0 min 0\d s$/),
    expect.stringMatching(/^in all +0 min 0\d s$/),
    '21 passed, 0 failed',
  ])
})

Deno.test('each word that .ci/run selects tests by is in the path of some', async () => {
  const { lines } = await runCi(`shift 3; echo "$*"; echo "${passed}"`)
  const paths = await listFiles(projectRoot, 'tests', '')
  const words = lines.filter((line) => line.startsWith('test ')).flatMap((line) => line.split(' '))
    .filter((word) => word.includes('/'))
  expect(words.length).toBeGreaterThan(10)
  expect(words.filter((word) => !paths.some((path) => path.includes(word)))).toEqual([])
})

/** Of tests/e2e, what .ci/run leaves out on Postgres 17: each calls SQL functions that pgTAP tests there. */
const notOn17 = [
  'alerts',
  'api_audit',
  'api_clients',
  'api_endpoints',
  'api_events',
  'api_first_reads',
  'api_fuzz',
  'api_isolation',
  'api_limits',
  'api_locations',
  'api_moved',
  'api_operations',
  'api_portal',
  'api_sagas',
  'api_token_rules',
  'broker_kafka',
  'broker_rabbitmq',
  'broker_stack',
  'callbacks',
  'callbacks_fuzz',
  'callbacks_inbound',
  'channel_check',
  'cli_database',
  'cli_deploy',
  'cli_types',
  'copies',
  'cron_jobs',
  'example_consumer',
  'failover',
  'functions_process',
  'functions_proxy',
  'incident',
  'job_timeouts',
  'message_codes',
  'message_killed',
  'messages',
  'moves',
  'runbook',
  'stack_killed',
  'start_once',
  'traces',
  'upgraded',
]

Deno.test('each test of the whole stack runs on Postgres 17, or is listed as one that need not', async () => {
  const { lines } = await runCi(`shift 3; echo "$*"; echo "${passed}"`)
  const words = lines.find((line) => line.includes(' --short '))?.split(' ')
    .filter((word) => word.startsWith('e2e/')) ?? []
  const files = (await listFiles(projectRoot, 'tests/e2e', '.test.ts')).map((path) =>
    path.replace('tests/e2e/', '').replace('.test.ts', '')
  ).filter((name) => !name.includes('/'))
  const left = files.filter((name) => !words.some((word) => `e2e/${name}`.includes(word)))
  expect(left.sort()).toEqual([...notOn17].sort())
})

Deno.test('on Postgres 17 .ci/run runs each file of tests/sql, also those that only --all runs', async () => {
  const { lines } = await runCi(`shift 3; echo "$*"; echo "${passed}"`)
  const words = lines.find((line) => line.includes('--postgres 17'))?.split(' ').slice(1) ?? []
  const parsed = parseOptions(words)
  if (!parsed.ok) throw new Error(parsed.message)
  const steps = testSteps.map(({ name }) => name)
  const all = await listFiles(projectRoot, 'tests', '')
  const context = {
    root: projectRoot,
    filter: makeFilter(parsed.options.words, steps, all),
    all: parsed.options.all,
    slow: false,
    mark: '',
    env: {},
  }
  const parts = await Promise.all(testSteps.map((step) => step.parts(context)))
  const chosen = new Set(parts.flat().flatMap(({ files }) => files))
  const files = (await Promise.all(
    ['.test.sql', '.test.ts'].map((end) => listFiles(projectRoot, 'tests/sql', end)),
  )).flat()
  expect(files.length).toBeGreaterThan(400)
  expect(files.filter((file) => !chosen.has(file))).toEqual([])
})

Deno.test('.ci/run leaves out the soak if the tests took more than 70 minutes, and says so', async () => {
  const { code, lines } = await runCi(`shift 3; echo "$*"; echo "${passed}"`, 70 * 60)
  expect(code).toBe(0)
  expect(lines).not.toContain('soak --short')
  expect(lines).toContain('soak           left out: the tests took more than 70 minutes')
  expect(lines.at(-1)).toBe('14 passed, 0 failed')
})

Deno.test('.ci/run ends with the code of the part that fails, after its time', async () => {
  const { code, lines } = await runCi('echo "7 passed, 2 failed"; exit 3')
  expect(code).toBe(3)
  expect(lines.filter((line) => line.startsWith('soak'))).toEqual([])
  expect(lines.at(-1)).toBe('7 passed, 2 failed')
})

Deno.test('.ci/run counts a part that ends without a report as one failure', async () => {
  const { code, lines } = await runCi('exit 1')
  expect(code).toBe(1)
  expect(lines.at(-1)).toBe('0 passed, 1 failed')
})
