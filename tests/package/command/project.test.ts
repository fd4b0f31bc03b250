/** init writes files so that an interrupted run can be repeated. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import {
  type Assets,
  makePlan,
  type Plan,
  type Project,
} from '../../../package/command/init/plan.ts'
import { applySteps, readProject } from '../../../package/command/init/project.ts'
import { testFolder } from '../../_support/folder.ts'

const index = (name: string): string =>
  `// Outhook 1.0.0. The function.\nimport { serve } from './${name}.js'\n\nawait serve()\n`

const assets: Assets = {
  version: '1.0.0',
  migrations: ['extensions', 'core', 'api', 'jobs'].map((module) => ({
    module,
    needs: [],
    text: module,
  })),
  functions: new Map(['deliver', 'api'].map((name) => [
    name,
    new Map([[`${name}.js`, name], ['index.ts', index(name)]]),
  ])),
}

function plan(supabase: string, other: Partial<Project> = {}): Plan {
  const project = readProject(supabase)
  if (project === null) throw new Error('There is no project')
  const choice = { modules: ['api'], functions: ['deliver', 'api'], prefix: 'outhook' }
  return makePlan(assets, { ...project, ...other }, choice, {
    now: new Date('2026-12-01T00:00:00Z'),
    newSecret: () => 'secret',
  })
}

/** A project in a folder of its own. */
async function project(root: string, name: string): Promise<string> {
  const supabase = join(root, name)
  await Deno.mkdir(join(supabase, 'functions'), { recursive: true })
  await Deno.writeTextFile(join(supabase, 'config.toml'), 'project_id = "shop"\n')
  // A repository of its own: that of the tests ignores its folder.
  await new Deno.Command('git', { args: ['init', '--quiet'], cwd: supabase }).output()
  return supabase
}

async function filesOf(folder: string, path = ''): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { name, isDirectory } of Deno.readDir(join(folder, path))) {
    const own = join(path, name)
    if (name === '.git') continue
    if (isDirectory) Object.assign(found, await filesOf(folder, own))
    else found[own] = await Deno.readTextFile(join(folder, own))
  }
  return found
}

Deno.test('a run that was interrupted after any step is completed by the next', async () => {
  const root = testFolder()
  try {
    const whole = await project(root, 'whole')
    const { steps } = plan(whole)
    expect(steps).toHaveLength(9)
    applySteps(whole, steps)
    const expected = await filesOf(whole)
    expect(Object.keys(expected)).toHaveLength(11)
    for (let done = 0; done <= steps.length; done++) {
      const supabase = await project(root, `after-${done}`)
      applySteps(supabase, plan(supabase).steps.slice(0, done))
      // What the interruption may leave.
      await Deno.mkdir(join(supabase, 'functions/.outhook-draft'))
      await Deno.writeTextFile(join(supabase, 'functions/.outhook-draft/deliver.js'), 'ha')
      applySteps(supabase, plan(supabase).steps)
      await Deno.remove(join(supabase, 'functions/.outhook-draft'), { recursive: true })
        .catch(() => {})
      expect([done, await filesOf(supabase)]).toEqual([done, expected])
      expect(plan(supabase).steps).toEqual([])
    }
  } finally {
    await Deno.remove(root, { recursive: true })
  }
})

Deno.test('a file that appeared after the plan is not replaced', async () => {
  const root = testFolder()
  try {
    const supabase = await project(root, 'late')
    const { steps } = plan(supabase)
    await Deno.writeTextFile(join(supabase, '.gitignore'), 'mine\n')
    expect(() => applySteps(supabase, steps)).toThrow(/EEXIST/)
    expect(await Deno.readTextFile(join(supabase, '.gitignore'))).toBe('mine\n')
  } finally {
    await Deno.remove(root, { recursive: true })
  }
})

Deno.test('a plan that changes files of a project without Git says so', async () => {
  const root = testFolder()
  try {
    const supabase = await project(root, 'bare')
    expect(plan(supabase).notes).toEqual([])
    expect(plan(supabase, { isInGit: false }).notes)
      .toEqual([expect.stringContaining('in no Git repository')])
    applySteps(supabase, plan(supabase).steps)
    expect(plan(supabase, { isInGit: false }).notes).toEqual([])
  } finally {
    await Deno.remove(root, { recursive: true })
  }
})

Deno.test('an env line in another form is the secret of the project', async () => {
  const root = testFolder()
  try {
    for (const line of ['export OUTHOOK_WORKER_SECRET=a', ' OUTHOOK_WORKER_SECRET = "a"']) {
      const supabase = await project(root, crypto.randomUUID())
      await Deno.writeTextFile(join(supabase, 'functions/.env'), `${line}\n`)
      expect(plan(supabase).steps.map(({ path }) => path)).not.toContain('functions/.env')
    }
  } finally {
    await Deno.remove(root, { recursive: true })
  }
})
