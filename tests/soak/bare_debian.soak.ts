/**
 * README's two commands in a Debian that has nothing but Node.js: Debian 12, and Debian 13 with its own
 * Node.js and PostgreSQL 17. The short form takes the first command in Debian 12.
 */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { print } from '../../supabase/local/print.ts'
import { isPortFree } from '../../supabase/local/process/ports.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { cloneProject } from '../_support/clone.ts'
import { type DebianRoot, openDebianRoot, type Suite } from '../_support/debian_root/mod.ts'
import { addNode, addRegistryAccess } from '../_support/debian_root/node.ts'

const isShort = Deno.env.get('OUTHOOK_SOAK') === 'short'
const isRoot = Deno.build.os === 'linux' && Deno.uid() === 0
const readme = await Deno.readTextFile(join(projectRoot, 'README.md'))

/** The project in the root, as `git clone` lays it. */
const PROJECT = '/srv/outhook'

interface Machine {
  suite: Suite
  /** Debian's own Node.js, or null for that of its makers: Debian 12 has an older one than 20. */
  nodePackages: string[] | null
  postgres: number
}

const machines: Machine[] = [
  { suite: 'bookworm', nodePackages: null, postgres: 15 },
  { suite: 'trixie', nodePackages: ['nodejs', 'npm'], postgres: 17 },
]

/** What the first command prints where Ctrl-C ends it, before it is run to its end. */
const steps = ['apt: reading the package lists', 'apt: downloading, ', 'apt: installing, ']

for (const machine of isShort ? machines.slice(0, 1) : machines) {
  const { suite, postgres } = machine
  Deno.test({
    name: `README's commands pass in a bare ${suite} with Node.js alone`,
    ignore: !isRoot,
    async fn(t): Promise<void> {
      await using root = await openMachine(machine)
      await t.step('the first command delivers a first event', async () => {
        const { output, seconds } = await run(root, startCommand())
        expect(output).toContain('the signature is valid')
        expect(output).toContain(`(PostgreSQL ${postgres})`)
        print(`${suite}: the first command took ${seconds} s, with Postgres installed`)
      })
      if (isShort) return
      await t.step('the second command passes all tests', async () => {
        const { output, seconds } = await run(root, command('task test'))
        // What is printed to standard error, such as the progress of downloads, comes after it.
        const counts = output.split('\n').filter((text) => /^\d+ passed, \d+ failed/.test(text))
        expect(counts).toEqual([expect.stringMatching(/^[1-9]\d* passed, 0 failed/)])
        print(`${suite}: ${counts.join('')}, in ${seconds} s`)
      })
    },
  })

  Deno.test({
    name: `Ctrl-C while Postgres is installed in a bare ${suite} leaves nothing half made`,
    ignore: !isRoot,
    async fn(t): Promise<void> {
      await using root = await openMachine(machine)
      // As in images of Debian, which have no package lists.
      await root.run(['rm', '-rf', '/var/lib/apt/lists'])
      for (const text of steps) {
        await t.step(`at "${text}" no process and no half-installed package is left`, async () => {
          const script =
            `cd ${PROJECT} && exec sh tests/soak/_support/ctrl_c.sh "$0" ${startCommand()}`
          const { output } = await root.run(['sh', '-c', script, text], { env: root.env })
          expect(output).toMatch(/^exit code: (?!0$).*\nleft:\nhalf installed: $/m)
        })
      }
      await t.step('the next start works', async () => {
        const { output } = await run(root, startCommand())
        expect(output).toContain('the signature is valid')
      })
    },
  })
}

/** A root with the project, and with the variables that lead to the registry. */
type ReadyRoot = DebianRoot & { env: Record<string, string> }

async function openMachine({ suite, nodePackages }: Machine): Promise<ReadyRoot> {
  const root = await openDebianRoot({ suite, packages: nodePackages ?? [], log: print })
  if (nodePackages === null) await addNode(root, print)
  const env = await addRegistryAccess(root)
  await addProject(root)
  return { ...root, env }
}

/** The README's line with these words; the test fails when the README has no such line. */
function command(words: string): string {
  const line = readme.split('\n').find((one) => one.startsWith('npx ') && one.includes(words))
  if (line === undefined) throw new Error(`README.md has no command with ${words}`)
  return line
}

/** The first command, beside another stack on other ports. */
function startCommand(): string {
  const line = command('task start')
  return isPortFree(54321) && isPortFree(54322) ? line : `${line} --free-ports`
}

/** A root shares no working directory and no shell set-up with this machine. */
async function run(
  root: ReadyRoot,
  line: string,
): Promise<{ output: string; seconds: number }> {
  const begun = performance.now()
  const words = ['sh', '-c', `cd ${PROJECT} && ${line}`]
  const { code, output } = await root.run(words, { env: root.env })
  if (code !== 0) throw new Error(`${line} ended with code ${code}:\n${output.slice(-8000)}`)
  return { output, seconds: Math.round((performance.now() - begun) / 1000) }
}

/** What a person would have cloned, with what is not committed yet. */
async function addProject(root: DebianRoot): Promise<void> {
  const folder = join(root.upper, PROJECT)
  const cloned = await new Deno.Command('git', {
    args: ['clone', '--quiet', '--no-hardlinks', projectRoot, folder],
  }).output()
  if (!cloned.success) throw new Error(new TextDecoder().decode(cloned.stderr))
  await cloneProject(folder)
}
