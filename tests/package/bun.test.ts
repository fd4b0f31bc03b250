/** The packed package in Bun, against a stack. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { npmTools } from '../_run/tools.ts'
import { startOuthook } from '../_support/outhook.ts'
import { userFolder } from './_support/install.ts'
import { startProgram } from './_support/program.ts'
import { receives } from './_support/receives.ts'

Deno.test('the programs of the page publish and receive in Bun', async () => {
  await using user = await userFolder()
  const outhook = await startOuthook({ only: ['deliver', 'api'] })
  try {
    const bun = join(await ensureTool(projectRoot, ...npmTools.bun), 'bun')
    expect(await receives({ user, outhook }, [bun, 'package-bun.mjs'], 'bun')).toBe(2)
    expect(await receives({ user, outhook }, [bun, 'package-node.mjs'], 'bun-node')).toBe(2)
    await using publisher = startProgram([bun, 'package-publish.mjs'], user.path, {
      API_URL: outhook.stack.apiUrl,
      SECRET_KEY: outhook.stack.keys.secretKey,
    })
    expect(await publisher.ended).toBe(0)
    expect(publisher.lines).toEqual([expect.stringMatching(/^published [0-9a-f-]{36}$/)])
  } finally {
    await outhook.stop()
  }
})
