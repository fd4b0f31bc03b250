/** The portal in an app with React, by the wrapper. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { runTool } from '../../package/build/run_tool.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { reactPackages } from '../_run/tools.ts'
import { testFolder } from '../_support/folder.ts'
import { startPortal } from './_support/portal.ts'

const program = `import { createElement as h, StrictMode, useCallback, useState } from 'react'
import { createRoot } from 'react-dom/client'
import './outhook-portal.js'
import { OuthookPortal } from './react.js'

function App({ api }) {
  const [lang, setLang] = useState('en')
  const token = useCallback(async ({ reason }) => {
    const response = await fetch('/token', { method: 'POST', body: reason })
    return (await response.json()).token
  }, [])
  return h('div', null,
    h('button', { onClick: () => setLang('fr') }, 'Change the language'),
    h(OuthookPortal, { api, token, lang, texts: lang === 'fr' ? french : undefined }))
}

const french = { endpoints: 'Destinations' }
const { api } = await (await fetch('/config')).json()
createRoot(document.getElementById('place')).render(h(StrictMode, null, h(App, { api })))
`

Deno.test('the wrapper for React passes the token, the texts and what changes', async () => {
  const folder = testFolder()
  const portal_ = await startPortal()
  const { app, outhook } = portal_
  try {
    await Deno.mkdir(folder, { recursive: true })
    for (const name of ['outhook-portal.js', 'react.js']) {
      await Deno.writeFile(join(folder, name), app.files.get(name) ?? new Uint8Array())
    }
    await Deno.writeTextFile(join(folder, 'app.js'), program)
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
