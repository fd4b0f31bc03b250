/** The portal in an app with React, by the wrapper. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { buildPortal } from '../../portal/build/build.ts'
import { runTool } from '../../package/build/run_tool.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { reactPackages } from '../_run/tools.ts'
import { testFolder } from '../_support/folder.ts'
import { startPortal } from './_support/portal.ts'

Deno.test('the wrapper for React passes the token, the texts and what changes', async () => {
  const folder = testFolder()
  const portal_ = await startPortal()
  const { app, outhook } = portal_
  try {
    await Deno.mkdir(folder, { recursive: true })
    for (const name of ['outhook-portal.js', 'react.js']) {
      await Deno.writeFile(join(folder, name), app.files.get(name) ?? new Uint8Array())
    }
    const program = join(projectRoot, 'tests/portal/_support/app/react_app.txt')
    await Deno.copyFile(program, join(folder, 'app.js'))
    const modules = await reactPackages(projectRoot)
    await runTool(join(modules, '.bin', 'esbuild'), [
      ...[join(folder, 'app.js'), '--bundle', '--format=esm', '--target=es2022'],
      `--outfile=${join(folder, 'out.js')}`,
    ], { cwd: folder, env: { NODE_PATH: modules } })
    app.files.set('app.js', await Deno.readFile(join(folder, 'out.js')))
    const org = 'react'
    await outhook.createEndpoint('/react', { p_event_types: ['a.*'], p_org_id: org })
    const { page, portal, errors, close } = await portal_.open(org)
    await portal.getByRole('button', { name: /\/react$/ }).waitFor()
    await page.getByRole('button', { name: 'Change the language' }).click()
    await portal.getByRole('heading', { name: 'Destinations' }).waitFor()
    expect(errors).toEqual([])
    await close()
  } finally {
    await portal_.stop()
    await Deno.remove(folder, { recursive: true })
  }
})

Deno.test('a server that renders the app writes the element, and does not fail', async () => {
  const folder = testFolder()
  await Deno.mkdir(folder, { recursive: true })
  try {
    const built = await buildPortal(projectRoot)
    for (const name of ['outhook-portal.js', 'react.js']) {
      await Deno.writeFile(join(folder, name), built.get(name) ?? new Uint8Array())
    }
    const program = join(folder, 'server.js')
    await Deno.writeTextFile(
      program,
      `import './outhook-portal.js'
      import { createElement } from 'react'
      import { renderToString } from 'react-dom/server'
      import { OuthookPortal } from './react.js'
      const api = 'https://example.supabase.co'
      console.log(renderToString(createElement(OuthookPortal, { api, token: async () => '' })))`,
    )
    const modules = await reactPackages(projectRoot)
    await runTool(join(modules, '.bin', 'esbuild'), [
      ...[program, '--bundle', '--format=cjs', '--platform=node', '--log-level=error'],
      `--outfile=${join(folder, 'out.cjs')}`,
    ], { cwd: folder, env: { NODE_PATH: modules } })
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ['run', '-A', '--cached-only', join(folder, 'out.cjs')],
    }).output()
    const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
    expect([code, text(stderr)]).toEqual([0, ''])
    expect(text(stdout).trim())
      .toBe('<outhook-portal api="https://example.supabase.co"></outhook-portal>')
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
})
