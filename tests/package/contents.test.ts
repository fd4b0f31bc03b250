/** What the packed package contains. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { version } from '../../functions/_shared/base/version.ts'
import { buildTools } from '../../package/build/tools.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { readProjectFile } from '../project/_tracked.ts'
import { docsBlock } from '../project/_docs.ts'
import { startProgram } from './_support/program.ts'
import { otherSecret, secret, webhook } from './receive/samples.ts'
import { type UserFolder, userFolder } from './_support/install.ts'
import { publishDry } from './_support/publish.ts'

let user: UserFolder

Deno.test.beforeAll(async () => {
  user = await userFolder()
})
Deno.test.afterAll(async () => {
  await user?.[Symbol.asyncDispose]()
})

const installed = (path: string): string => join(user.path, 'node_modules/outhook', path)

Deno.test('the package has its manifest, README, licence, modules and types, and nothing else', () => {
  const paths = user.packed.files.map(({ path }) => path)
  const others = paths.filter((path) => !/^types\/(client|receive)\/\w+(\.\w+)?\.d\.ts$/.test(path))
  expect(others.sort()).toEqual([
    ...[
      'LICENSE',
      'README.md',
      'THIRD_PARTY_NOTICES.txt',
      'client.js',
      'outhook.js',
      'package.json',
      'portal/portal.d.ts',
      'portal/portal.js',
      'portal/react.d.ts',
      'portal/react.js',
      'receive.js',
    ],
  ])
  expect(paths).toContain('types/client/openapi.types.d.ts')
})

Deno.test('the package is small: what a receiver loads is below 20 kB', async () => {
  expect((await Deno.stat(installed('receive.js'))).size).toBeLessThan(20_000)
  expect((await Deno.stat(installed('client.js'))).size).toBeLessThan(60_000)
  // A program that only publishes and receives loads none of it.
  expect((await Deno.stat(installed('portal/portal.js'))).size).toBeLessThan(200_000)
  expect(user.packed.unpackedSize).toBeLessThan(580_000)
})

Deno.test('the modules import only modules of Node', async () => {
  for (const path of ['client.js', 'outhook.js', 'receive.js']) {
    const text = await Deno.readTextFile(installed(path))
    const imported = [...text.matchAll(/^import .*?from "([^"]+)"/gm)].map(([, name]) => name)
    expect([path, imported.filter((name) => name?.startsWith('node:') !== true)])
      .toEqual([path, []])
  }
})

Deno.test('npx outhook names the package of the command, and runs the command once it is installed', async () => {
  const outhook = ['node', installed('../.bin/outhook'), 'init', '--yes']
  await using alone = startProgram(outhook, user.path, {})
  expect(await alone.ended).toBe(1)
  expect(alone.lines.slice(1)).toEqual([
    `Install the file outhook-command-${version}.tgz with npm install --save-dev, and repeat this command.`,
    'See docs/add-to-your-project.md#build-the-packages',
  ])
  const command = installed('../outhook-command')
  await Deno.mkdir(command)
  try {
    await Deno.writeTextFile(
      join(command, 'outhook.js'),
      'console.log(...process.argv.slice(2)); process.exitCode = 3\n',
    )
    await using both = startProgram(outhook, user.path, {})
    expect([await both.ended, both.lines]).toEqual([3, ['init --yes']])
  } finally {
    await Deno.remove(command, { recursive: true })
  }
})

Deno.test('the declarations import only each other', async () => {
  const texts = await Promise.all(
    user.packed.files.map(({ path }) => path).filter((path) => path.endsWith('.d.ts'))
      .map((path) => Deno.readTextFile(installed(path))),
  )
  const imported = texts.flatMap((text) => [...text.matchAll(/(?:from |import\()['"]([^'"]+)/g)])
    .map(([, name = '']) => name)
  expect(imported).toContain('./client.js')
  // An app that uses the wrapper has React.
  expect(imported.filter((name) => !/^\.{1,2}\//.test(name))).toEqual(['react'])
})

Deno.test('the manifest has the version of the project and no dependencies', async () => {
  const manifest = JSON.parse(await Deno.readTextFile(installed('package.json')))
  expect(manifest).toMatchObject({ name: 'outhook', version, license: 'MIT', type: 'module' })
  expect(Object.keys(manifest).filter((name) => /dependencies|scripts/i.test(name))).toEqual([])
  expect(await Deno.readTextFile(installed('LICENSE'))).toBe(await readProjectFile('LICENSE'))
})

Deno.test('the package has the licence of what its bundle contains', async () => {
  const notices = await Deno.readTextFile(installed('THIRD_PARTY_NOTICES.txt'))
  expect(notices).toMatch(/^openapi-fetch \d+\.\d+\.\d+ \(MIT\)$/m)
  expect(notices).toMatch(/^Copyright \(c\) .*Drew Powers/im)
})

Deno.test('TypeScript accepts the declarations of the package, and refuses wrong calls', async () => {
  const program = join(projectRoot, 'tests/package/_support/typed.ts.txt')
  await Deno.copyFile(program, join(user.path, 'typed.ts'))
  const modules = await buildTools(projectRoot)
  for (const resolution of [['nodenext', 'nodenext'], ['esnext', 'bundler']]) {
    const [module = '', how = ''] = resolution
    const { code, stdout } = await new Deno.Command(join(modules, '.bin', 'tsc'), {
      args: [
        ...['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022'],
        ...['--lib', 'es2023,dom,dom.iterable', '--module', module, '--moduleResolution', how],
        ...['--types', 'node', '--typeRoots', join(modules, '@types'), 'typed.ts'],
      ],
      cwd: user.path,
    }).output()
    expect([how, code, new TextDecoder().decode(stdout)]).toEqual([how, 0, ''])
  }
})

Deno.test('TypeScript accepts the element and its wrapper for React', async () => {
  // A stand-in for the types of React, which an app has.
  const react = join(user.path, 'node_modules/@types/react')
  await Deno.mkdir(react, { recursive: true })
  await Deno.writeTextFile(
    join(react, 'index.d.ts'),
    'export interface ReactElement { type: unknown }\n',
  )
  await Deno.writeTextFile(
    join(user.path, 'portal.ts'),
    `import 'outhook/portal'
  import { OuthookPortal } from 'outhook/portal/react'
const token = ({ reason }: { reason: string }): Promise<string> => Promise.resolve(reason)
const element = document.querySelector('outhook-portal')
if (element !== null) element.token = token
console.log(OuthookPortal({ api: 'https://x.supabase.co', token, theme: 'dark' }).type)
// @ts-expect-error: it needs a token
OuthookPortal({ api: 'https://x.supabase.co' })
// @ts-expect-error: no such theme
OuthookPortal({ api: 'https://x.supabase.co', token, theme: 'blue' })
`,
  )
  const modules = await buildTools(projectRoot)
  const { code, stdout } = await new Deno.Command(join(modules, '.bin', 'tsc'), {
    args: [
      ...['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,dom', '--module'],
      ...['esnext', '--moduleResolution', 'bundler', '--types', 'node', '--typeRoots'],
      ...[join(modules, '@types'), 'portal.ts'],
    ],
    cwd: user.path,
  }).output()
  expect([code, new TextDecoder().decode(stdout)]).toEqual([0, ''])
})

Deno.test('npm publish --dry-run passes', async () => {
  expect(await publishDry(user.packed.tarball)).toContain(`outhook@${version}`)
})

Deno.test('a Supabase function receives with the copied module alone', async () => {
  const folder = join(user.path, 'function')
  await Deno.mkdir(folder)
  await Deno.copyFile(installed('receive.js'), join(folder, 'receive.js'))
  await Deno.writeTextFile(join(folder, 'index.ts'), docsBlock('package-function.ts'))
  await Deno.writeTextFile(join(folder, 'deno.json'), '{ "imports": {} }\n')
  await using running = startProgram(
    [Deno.execPath(), 'run', '-A', '--cached-only', '--no-lock', 'index.ts'],
    folder,
    { DENO_SERVE_ADDRESS: 'tcp:127.0.0.1:0', WEBHOOK_SECRET: `${otherSecret},${secret}` },
  )
  const [url = ''] = await running.find(/http:\/\/127\.0\.0\.1:\d+/)
  const { headers, body } = webhook({ timestamp: Math.floor(Date.now() / 1000) })
  const response = await fetch(url, { method: 'POST', headers, body: body.toString() })
  expect([response.status, await response.text()]).toEqual([204, ''])
  expect(running.lines).toContain('paid 1 49.9')
})
