import { expect } from '@std/expect'
import { join } from 'node:path'
import { judgeFiles } from '../../../package/command/check/judge_files.ts'
import type { Assets, Project } from '../../../package/command/init/plan.ts'
import { otherVersion } from '../../../package/command/init/refuse.ts'
import type { Terminal } from '../../../package/command/terminal.ts'
import { makeUpgrade, type UpgradeAssets } from '../../../package/command/upgrade/plan.ts'
import { upgrade } from '../../../package/command/upgrade/upgrade.ts'
import { testFolder } from '../../_support/folder.ts'

const index = (version: string): string =>
  `// Outhook ${version}. Do not change.\nimport { serve } from './deliver.js'\nserve()\n`
const assets: Assets & { upgrade: UpgradeAssets } = {
  version: '1.1.0',
  migrations: [],
  functions: new Map([['deliver', new Map([['index.ts', index('1.1.0')], ['deliver.js', 'new']])]]),
  upgrade: {
    from: '1.0.0',
    migrations: ['core', 'api', 'inbox'].map((module) => ({ module, text: `-- ${module}` })),
  },
}
const installed = [
  '20260101000000_outhook_extensions_1.0.0.sql',
  '20260101000001_outhook_core_1.0.0.sql',
  '20260101000002_outhook_api_1.0.0.sql',
  '20260101000003_outhook_jobs_after_api_1.0.0.sql',
  '20270101000000_own.sql',
]
const now = new Date('2026-12-01T00:00:00Z')

function project(over: Partial<Project> = {}): Project {
  return {
    config: '',
    migrations: installed,
    functions: ['outhook-deliver'],
    own: [{ folder: 'outhook-deliver', name: 'deliver', version: '1.0.0' }],
    env: null,
    ignore: null,
    isInGit: true,
    isEnvIgnored: true,
    ...over,
  }
}

/** The steps in words, or why there are none. */
function planned(from: Project, of: Partial<typeof assets> = {}): string[] {
  const plan = makeUpgrade({ ...assets, ...of }, from, now)
  return 'says' in plan ? [plan.says] : plan.steps.map(({ kind, path }) => `${kind} ${path}`)
}

const upgraded = [
  '20270101000001_outhook_core_1.1.0.sql',
  '20270101000002_outhook_api_1.1.0.sql',
]

Deno.test('upgrade adds the migrations of the installed modules after all others, and the functions', () => {
  expect(planned(project())).toEqual([
    ...upgraded.map((name) => `create migrations/${name}`),
    'replace functions/outhook-deliver/index.ts',
    'replace functions/outhook-deliver/deliver.js',
  ])
})

Deno.test('upgrade continues after an interruption, and then has nothing to do', () => {
  const half = project({ migrations: [...installed, ...upgraded.slice(0, 1)] })
  expect(planned(half)[0]).toBe('create migrations/20270101000002_outhook_api_1.1.0.sql')
  const own = [{ folder: 'outhook-deliver', name: 'deliver', version: '1.1.0' }]
  expect(planned(project({ migrations: [...installed, ...upgraded], own }))).toEqual([])
})

Deno.test('upgrade from two versions before names the version that comes first', () => {
  const older = project({ migrations: installed.map((name) => name.replace('1.0.0', '0.9.0')) })
  expect(planned(older)).toEqual([
    'This project has Outhook 0.9.0, and this command upgrades from 1.0.0 to 1.1.0. An upgrade goes ' +
    'from one version to the next: run the command of version 1.0.0 first, push and deploy, and then ' +
    'this one',
  ])
})

Deno.test('upgrade refuses a newer project, and one without Outhook', () => {
  const newer = project({ migrations: [...installed, '20280101000000_outhook_core_1.10.0.sql'] })
  expect(planned(newer)).toEqual([
    'This project has Outhook 1.10.0, and this command is of 1.1.0: use the command of version 1.10.0',
  ])
  expect(planned(project({ migrations: [], own: [] }))).toEqual([
    'This project has nothing of Outhook: run outhook init',
  ])
})

Deno.test('init asks for the upgrade first, and continues after it', () => {
  expect(otherVersion(assets, project())?.says).toContain('Run outhook upgrade first')
  const own = [{ folder: 'outhook-deliver', name: 'deliver', version: '1.1.0' }]
  expect(otherVersion(assets, project({ migrations: [...installed, ...upgraded], own }))).toBe(null)
})

Deno.test('check accepts the files of an upgraded project, and finds a changed upgrade', () => {
  const own = [{ folder: 'outhook-deliver', name: 'deliver', version: '1.1.0' }]
  const done = project({ migrations: [...installed, ...upgraded], own })
  const texts = (file: string): string => file.includes('_core_') ? '-- core' : '-- api'
  const all = { ...assets, upgrades: assets.upgrade.migrations }
  expect(judgeFiles(all, done, texts).map(({ status }) => status)).toEqual(['ok'])
  expect(judgeFiles(all, done, () => 'changed').map(({ status }) => status))
    .toEqual(['warning', 'warning'])
})

Deno.test('upgrade shows the plan, and writes it only after a confirmation', async () => {
  const root = testFolder()
  const supabase = join(root, 'supabase')
  const lines: string[] = []
  const terminal: Terminal = {
    isInteractive: false,
    print: (text) => void lines.push(text),
    printError: (text) => void lines.push(text),
  }
  const options = { project: root, yes: false, json: false, force: true }
  try {
    await Deno.mkdir(join(supabase, 'functions/outhook-deliver'), { recursive: true })
    await Deno.mkdir(join(supabase, 'migrations'))
    await Deno.writeTextFile(join(supabase, 'config.toml'), '')
    await Deno.writeTextFile(join(supabase, 'functions/outhook-deliver/index.ts'), index('1.0.0'))
    for (const name of installed) await Deno.writeTextFile(join(supabase, 'migrations', name), '')
    expect(await upgrade(assets, options, terminal)).toBe(3)
    expect([...Deno.readDirSync(join(supabase, 'migrations'))].length).toBe(installed.length)
    expect(lines.at(-1)).toContain('add --yes')
    expect(await upgrade(assets, { ...options, yes: true }, terminal)).toBe(0)
    expect(lines.at(-1)).toContain('supabase db push')
    const read = (path: string): string => Deno.readTextFileSync(join(supabase, path))
    expect(read(`migrations/${upgraded[0]}`)).toBe('-- core')
    expect(read('functions/outhook-deliver/index.ts')).toBe(index('1.1.0'))
    expect(read('functions/outhook-deliver/deliver.js')).toBe('new')
    expect(await upgrade(assets, { ...options, yes: true }, terminal)).toBe(0)
    expect(lines.at(-1)).toContain('nothing to do')
  } finally {
    await Deno.remove(root, { recursive: true })
  }
})
