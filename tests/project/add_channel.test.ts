/** The page on adding a message channel, checked against the example `sms`. */

import { expect } from '@std/expect'
import { projectFiles, readProjectFile } from './_tracked.ts'

const example = 'tests/modules/example_channel'
const page = await readProjectFile('docs/add-a-channel.md') ?? ''
const sql = await readProjectFile(`${example}/sms.sql`) ?? ''

Deno.test('each file that the page on channels names exists', async () => {
  const named = [...page.matchAll(/`([\w./-]+\.(?:ts|sql))`/g)].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(8)
  for (const path of named) {
    const place = path.includes('/') ? path : `${example}/${path}`
    expect([path, await readProjectFile(place) === null]).toEqual([path, false])
  }
})

Deno.test('what the page says of sms.sql is there', () => {
  expect(page).toContain(`insert into outbox.channel_kind (channel, kind) values ('SMS', 'sms');`)
  expect(sql).toMatch(
    /insert into outbox\.channel_kind \(channel, kind, check_function\) values\s+\('SMS', 'sms',/,
  )
  for (const call of ['add_message_channel(', "add_gate(v_id, 'partition')", 'lane_spacing_ms']) {
    expect(sql).toContain(call)
  }
})

Deno.test('no file of the product names the channel of the example', async () => {
  const named: string[] = []
  for (const path of await projectFiles()) {
    if (!/^(?:sql|functions|consumer|supabase)\//.test(path)) continue
    if (/\bsms\b|\bSMS\b/.test(await readProjectFile(path) ?? '')) named.push(path)
  }
  expect(named).toEqual([])
})
