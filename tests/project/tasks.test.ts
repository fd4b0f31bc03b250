import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { docs } from './_docs.ts'

// SAFETY: each task is checked to have this form.
const { tasks } = JSON.parse(await Deno.readTextFile(join(projectRoot, 'deno.json'))) as {
  tasks: Record<string, { description?: string; command?: string }>
}
const tasksPage = docs.get('docs/local-stack.md')
const ci = await Deno.readTextFile(join(projectRoot, '.ci/run'))

/** The README's test command; CI runs it with `--all`. */
const testCommand = 'npx -y deno@2.9.6 task test'

for (const [name, task] of Object.entries(tasks)) {
  Deno.test(`task ${name} has a help line, a file to run and a place among the tasks`, async () => {
    expect(task.description).toMatch(/^[A-Z].{10,}/)
    expect(tasksPage).toContain('- `' + name + '`: ')
    const file = /deno run (?:\S+ )*?([\w./]+\.ts)/.exec(task.command ?? '')?.[1]
    if (file !== undefined) {
      expect((await Deno.stat(join(projectRoot, file))).isFile).toBe(true)
    }
  })
}

for (const [name, { command = '' }] of Object.entries(tasks)) {
  Deno.test(`task ${name} prints its help without running`, async () => {
    // `deno task` itself would add no more than the line that it prints.
    const words = command.split(' ').filter((word) => !word.includes('=') || word.startsWith('-'))
    expect(words.shift()).toBe('deno')
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [...words, '--help'],
      cwd: projectRoot,
      env: { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', OUTHOOK_DB_URL: '' },
      stdin: 'null',
    }).output()
    const text = new TextDecoder().decode(stdout)
    expect(code).toBe(0)
    expect(text).toContain(`task ${name}`)
  })
}

Deno.test('the pages name no task that is not there', () => {
  const named = [...docs.values()].flatMap((page) =>
    [...page.matchAll(/\bdeno(?:@[\d.]+)? task ([\w:]+)/g)].map(([, name]) => name)
  )
  expect(named.filter((name) => name !== undefined && !(name in tasks))).toEqual([])
})

Deno.test('CI runs the test command of the README with every test, without standard input', () => {
  expect(docs.get('README.md')).toContain(testCommand)
  expect(ci).toContain(`part test ${testCommand} --all`)
  expect(ci).toContain('"$@" </dev/null')
})
