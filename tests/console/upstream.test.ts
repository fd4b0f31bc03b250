/** Where the console finds the API. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { readUpstream, type Surroundings } from '../../console/server/upstream.ts'
import { loadKeys } from '../../supabase/local/keys.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { testFolder } from '../_support/folder.ts'

const nothing: Surroundings = {
  url: undefined,
  secretKey: undefined,
  functionName: undefined,
  root: projectRoot,
  dataDir: join(projectRoot, '.outhook/none'),
}

Deno.test('it is the project of the variables', async () => {
  const hosted = { ...nothing, url: 'https://abc.supabase.co/', secretKey: 'sb_secret_1' }
  expect(await readUpstream(hosted)).toEqual({
    url: 'https://abc.supabase.co/functions/v1/api',
    secretKey: 'sb_secret_1',
  })
  expect((await readUpstream({ ...hosted, functionName: 'outhook-api' })).url)
    .toBe('https://abc.supabase.co/functions/v1/outhook-api')
})

Deno.test('it is the local stack without them', async () => {
  const dataDir = testFolder()
  const { secretKey } = await loadKeys(dataDir)
  expect(await readUpstream({ ...nothing, dataDir })).toEqual({
    url: 'http://127.0.0.1:54321/functions/v1/api',
    secretKey,
  })
  await Deno.remove(dataDir, { recursive: true })
})

Deno.test('what is missing is named with the remedy', async () => {
  const refused = async (from: Partial<Surroundings>): Promise<string> => {
    try {
      await readUpstream({ ...nothing, ...from })
      return 'accepted'
    } catch (error) {
      return error instanceof Error ? error.message : ''
    }
  }
  expect(await refused({})).toMatch(/^There is no local stack in .*: start it with "npx/)
  expect(await refused({ url: 'https://x.example' })).toMatch(
    /^OUTHOOK_CONSOLE_SECRET_KEY is not set/,
  )
  expect(await refused({ secretKey: 'x' })).toMatch(/^OUTHOOK_CONSOLE_URL is not set/)
  expect(await refused({ url: 'x', secretKey: 'x' })).toMatch(/^OUTHOOK_CONSOLE_URL is not a URL/)
})
