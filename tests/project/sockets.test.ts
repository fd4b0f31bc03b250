import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { listFiles } from '../_run/files.ts'

/**
 * Every place in functions/ that opens a socket or takes one in, by what it uses. What goes to addresses that strangers
 * choose lies in connect/, or is fetch.ts, which vets before it calls; the rest goes to the operator's own database.
 */
const known: Record<string, string[]> = {
  'functions/_shared/connect/connector.ts': ['./secure.ts', './socket.ts', './tunnel.ts'],
  'functions/_shared/connect/first_address.ts': ['../runtime/current.ts'],
  'functions/_shared/connect/lookup.ts': ['../runtime/current.ts', 'node:dns/promises'],
  'functions/_shared/connect/secure.ts': ['./first_address.ts', './tls.ts', 'node:net'],
  'functions/_shared/connect/socket.ts': ['node:net', 'node:tls'],
  'functions/_shared/connect/target.ts': ['node:net'],
  'functions/_shared/connect/tunnel.ts': ['../runtime/current.ts', './tls.ts'],
  'functions/_shared/database/direct.ts': ['postgres'],
  'functions/_shared/database/functions.ts': ['@supabase/supabase-js'],
  'functions/_shared/database/rpc.ts': ['fetch'],
  'functions/_shared/database/waking.ts': ['postgres'],
  'functions/_shared/runtime/current.ts': ['./deno_runtime.ts', './node_runtime.ts'],
  'functions/_shared/runtime/deno_runtime.ts': ['Deno.connect', 'Deno.startTls'],
  'functions/_shared/runtime/node_runtime.ts': ['./node_conn.ts', 'node:net'],
  'functions/_shared/runtime/node_conn.ts': ['node:net', 'node:tls'],
  'functions/_shared/runtime/server_checks.ts': ['node:tls'],
  // Parts of kafkajs that it changes; they open no socket of their own.
  'functions/_shared/senders/kafka/bounds.ts': [
    'kafkajs/src/broker/index.js',
    'kafkajs/src/broker/saslAuthenticator/scram.js',
    'kafkajs/src/protocol/decoder.js',
  ],
  'functions/_shared/senders/kafka/cluster.ts': ['../../connect/socket.ts', 'kafkajs'],
  'functions/_shared/senders/rabbitmq/connection.ts': ['../../connect/socket.ts', 'amqplib'],
  'functions/_shared/trace/exporter.ts': ['fetch'],
  'functions/_shared/transport/fetch.ts': ['fetch'],
  'functions/api/auth/authenticate.ts': ['jose'],
  'functions/api/auth/portal.ts': ['jose'],
  'functions/api/auth/tokens.ts': ['fetch', 'jose'],
  'functions/api/serve.ts': ['Deno.serve'],
  // The checks of a worker, on the port that its operator names.
  'functions/deliver/health_server.ts': ['node:http'],
  'functions/deliver/serve_kinds.ts': ['Deno.serve'],
  // For the environment, signals and the end of the process.
  'functions/deliver/worker.ts': ['../_shared/runtime/current.ts'],
  'functions/example-consumer/database.ts': ['@supabase/supabase-js'],
  'functions/example-consumer/index.ts': ['Deno.serve'],
  'functions/whatsapp/serve.ts': ['Deno.serve'],
  'functions/metrics/serve.ts': ['Deno.serve'],
  'functions/ops-alerts/serve.ts': ['Deno.serve'],
  'functions/ops-alerts/send_alerts.ts': ['fetch'],
}

/** Packages and built-in modules that open none; anything else that is imported counts as one that does. */
const quiet = [
  '@hono/zod-openapi',
  'hono',
  'hono/body-limit',
  'hono/accepts',
  'hono/cors',
  'hono/http-exception',
  'hono/route',
  'ipaddr.js',
  'libphonenumber-js',
  'standardwebhooks',
  'zod',
  'node:buffer',
  'node:crypto',
  'node:fs',
  'node:os',
  'node:process',
  'node:stream',
  'node:timers',
  'node:zlib',
]

/** Our own modules whose use opens one. */
const openers =
  /^\.\.?\/(?:.*\/)?(?:current|deno_runtime|first_address|node_conn|node_runtime|secure|socket|tls|tunnel)\.ts$/

const calls =
  /\b(?:Deno\.(?:connect\w*|startTls|listen\w*|serve\w*|createHttpClient|resolveDns|upgradeWebSocket)|(?:globalThis\.)?fetch(?=\()|(?:new )?(?:WebSocket|EventSource|WebTransport|XMLHttpRequest)(?=\())/g

/** What of a source opens sockets, in the order of the alphabet. Imports of types alone do not count. */
function opens(text: string): string[] {
  const code = text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  const found = new Set<string>()
  const imports =
    /(?:^(?:import|export)\b(?! type\b)(?:[^'";]*?\bfrom)?\s*|\bimport\(\s*)['"]([^'"]+)['"]/gm
  for (const [, specifier = ''] of code.matchAll(imports)) {
    const isOurs = specifier.startsWith('.')
    if (isOurs ? openers.test(specifier) : !quiet.includes(specifier)) found.add(specifier)
  }
  for (const [call] of code.matchAll(calls)) found.add(call)
  return [...found].sort()
}

Deno.test('opens() finds each way to a socket', () => {
  const rows: [string, string[]][] = [
    [`import { connect } from 'node:net'`, ['node:net']],
    [`import type { Socket } from 'node:net'`, []],
    [`import {\n  type A,\n  b,\n} from 'unknown'`, ['unknown']],
    [`export * from 'node:http'`, ['node:http']],
    [`const net = await import('node:net')`, ['node:net']],
    [`import { openSocket } from '../connect/socket.ts'`, ['../connect/socket.ts']],
    [`import { z } from 'zod'\nimport './a.ts'`, []],
    [`const r = await fetch(url)`, ['fetch']],
    [`await globalThis.fetch(url)`, ['globalThis.fetch']],
    [`new WebSocket(url)`, ['new WebSocket']],
    [`await Deno.connectTls({ port })`, ['Deno.connectTls']],
    [`// await fetch(url)`, []],
  ]
  for (const [text, expected] of rows) expect([text, opens(text)]).toEqual([text, expected])
})

Deno.test('functions/ opens sockets where it is known to, and nowhere else', async () => {
  const found: Record<string, string[]> = {}
  for (const path of await listFiles(projectRoot, 'functions', '.ts')) {
    const opened = opens(await Deno.readTextFile(join(projectRoot, path)))
    if (opened.length > 0) found[path] = opened
  }
  expect(found).toEqual(known)
})

Deno.test('no client of Postgres looks types up: postgres.js 3.4.9 awaits that query nowhere', async () => {
  // A connection that is lost during the query would be an unhandled rejection, which ends the process.
  const found: string[] = []
  for (const folder of ['consumer', 'functions', 'package', 'supabase/local']) {
    for (const path of await listFiles(projectRoot, folder, '.ts')) {
      const text = await Deno.readTextFile(join(projectRoot, path))
      for (const [call] of text.matchAll(/(?<![\w.`/^])postgres\((?=\w)(?:[^()]|\([^()]*\))*\)/g)) {
        found.push(`${path}: ${call.includes('fetch_types: false')}`)
      }
    }
  }
  expect(found.length).toBeGreaterThan(8)
  expect(found.filter((line) => line.endsWith(': false'))).toEqual([])
})
