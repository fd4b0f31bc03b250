import { expect } from '@std/expect'
import { join } from 'node:path'
import { readStackConfig } from '../../../supabase/local/config.ts'
import { readPorts } from '../../../supabase/local/process/early_ports.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

Deno.test('readPorts() finds the ports that the reader of TOML finds', async () => {
  const { api, db } = await readStackConfig(projectRoot)
  const toml = await Deno.readTextFile(join(projectRoot, 'supabase/config.toml'))
  expect(readPorts(toml)).toEqual({ api: api.port, db: db.port })
})

Deno.test('readPorts() takes only the port of the table itself', () => {
  const toml =
    '# [api]\n[db.pooler] # not the server\nport = 1\n[ api ]\n# port = 2\nport=3 # here\n' +
    '[[db]]\n[studio]\nport = 4'
  expect(readPorts(toml)).toEqual({ api: 3, db: null })
})
