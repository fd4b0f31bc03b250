import { expect } from '@std/expect'
import { createAddressPolicy } from '../../functions/_shared/connect/address.ts'
import { checkTarget } from '../../functions/_shared/connect/target.ts'
import { errorClasses } from '../../functions/_shared/contract/contract.ts'
import { customHeaderProblem, reservedHeaders } from '../../functions/_shared/signing/headers.ts'
import { expand } from '../../functions/_shared/senders/broker/template.ts'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { withMigrations } from '../_support/postgres.ts'
import { hostMatrix, insideNames } from '../functions/_shared/connect/matrix.ts'
import { sampleEvent } from '../functions/samples.ts'
import { edgeAddresses } from './_edge_addresses.ts'

/** Runs a query whose one value is JSON. `$json$` quotes: none of the tests' texts holds it. */
async function ask<T>(pg: Postgres, query: string): Promise<T> {
  const { code, stdout, stderr } = await pg.psql(query)
  if (code !== 0) throw new Error(stderr)
  // SAFETY: each caller names the type that its own query builds.
  return JSON.parse(stdout) as T
}

/** Which of the texts an SQL condition on `t` holds for, in their order. */
async function which(pg: Postgres, texts: readonly string[], condition: string): Promise<string[]> {
  return await ask(
    pg,
    `select coalesce(json_agg(t order by place), '[]')
     from json_array_elements_text($json$${
      JSON.stringify(texts)
    }$json$) with ordinality x (t, place)
     where ${condition}`,
  )
}

/** As `which`, for a condition that raises OH001 where it does not hold. */
async function accepted(pg: Postgres, texts: readonly string[], call: string): Promise<string[]> {
  await pg.psql(
    `create or replace function public.passes(t text) returns boolean language plpgsql as $$
     begin perform ${call}; return true; exception when sqlstate 'OH001' then return false; end $$`,
  )
  return await which(pg, texts, 'public.passes(t)')
}

Deno.test('the database and the sender have the same rules', async (t) => {
  await withMigrations(async (pg) => {
    const settings = await ask<Record<string, string[]>>(
      pg,
      `select json_object_agg(name, value) from outbox.setting where type = 'text[]'`,
    )
    const policy = createAddressPolicy({
      allowHttp: false,
      allowCidrs: [],
      allowPorts: settings['egress.allow_ports'] ?? [],
      denyPorts: settings['egress.deny_ports'] ?? [],
    })

    await t.step('for the topics and routing keys of brokers', async () => {
      const event = sampleEvent({ partition_key: 'k{type}\\1&' })
      const templates = ['plain', 'a.{type}.{org}.{key}.{key}', '{org}{org}', '{unknown}']
      const made = await ask<string[]>(
        pg,
        `select json_agg(outbox.fill_broker_template(t, '${event.type}', '${event.org_id}', $json$${event.partition_key}$json$) order by place)
         from json_array_elements_text('${
          JSON.stringify(templates)
        }') with ordinality x (t, place)`,
      )
      expect(made).toEqual(templates.map((template) => expand(template, event)))
    })

    await t.step('for each form of a host', async () => {
      for (const suffix of ['/hook', ':8443/', '']) {
        const urls = hostMatrix.map(({ host }) => `https://${host}${suffix}`)
        const expected = hostMatrix.filter((row) => row.verdict === 'public' && !row.refusedAtSave)
        expect(await accepted(pg, urls, 'outbox.check_url(t)'))
          .toEqual(expected.map(({ host }) => `https://${host}${suffix}`))
      }
    })

    await t.step('for every address at the edge of a range', async () => {
      const addresses = edgeAddresses()
      expect(addresses.length).toBeGreaterThan(150)
      const expected = addresses.filter((address) => policy.allows(address))
      expect(await which(pg, addresses, 'outbox.is_public(t::inet)')).toEqual(expected)
      expect(expected.length).toBeGreaterThan(40)
    })

    await t.step('for every port', async () => {
      const urls = Array.from({ length: 65_537 }, (_, port) => `https://example.com:${port}/`)
      const expected = urls.filter((url) => checkTarget(url, policy).ok)
      const ports = urls.map((_, port) => String(port))
      const allowed = await which(pg, ports, 'outbox.port_allowed(t::integer)')
      expect(allowed.map((port) => `https://example.com:${port}/`)).toEqual(expected)
    })

    await t.step('for names that a private network alone knows, until one is allowed', async () => {
      const urls = insideNames.map((name) => `https://${name}/`)
      expect(await accepted(pg, urls, 'outbox.check_url(t)')).toEqual([])
      await pg.psql(`select outbox.set_setting('egress.allow_cidrs', '["10.0.0.0/8", "fd00::/8"]')`)
      const loopback = urls.filter((url) => /local(host|domain)/i.test(url))
      expect(await accepted(pg, urls, 'outbox.check_url(t)'))
        .toEqual(urls.filter((url) => !loopback.includes(url)))
      const literals = ['https://10.1.2.3/', 'https://[fd00:ec2::254]/', 'https://10.1/']
      expect(await accepted(pg, [...literals, 'https://192.168.0.1/'], 'outbox.check_url(t)'))
        .toEqual(literals)
      await pg.psql(`select outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8"]')`)
      expect(await accepted(pg, urls, 'outbox.check_url(t)')).toEqual(urls)
    })

    await t.step('for the names and values of custom headers', async () => {
      expect(await ask(pg, 'select to_json(outbox.reserved_headers())')).toEqual(reservedHeaders)
      const names = [
        ...reservedHeaders.flatMap((name) => [name, name.toUpperCase(), `${name}x`]),
        ...reservedHeaders.map((name) => name.replace('*', 'anything')),
        ...['x-key', 'X-Key', 'authorization', 'cookie', 'x key', 'x:key', '', 'ü', 'x\n', 'a'],
        ...['x'.repeat(100), 'x'.repeat(101), "!#$%&'*+.^_`|~09az"],
      ]
      expect(await accepted(pg, names, "outbox.check_headers(jsonb_build_object(t, 'v'))"))
        .toEqual(names.filter((name) => customHeaderProblem(name, 'v') === null))
      const values = ['v', 'a b', 'a\tb', '', ' ', ' a', 'a ', 'a\r\nb: c', 'a\nb', 'ü', '\x7f']
      expect(await accepted(pg, values, "outbox.check_headers(jsonb_build_object('x-key', t))"))
        .toEqual(values.filter((value) => customHeaderProblem('x-key', value) === null))
    })

    await t.step('for the error classes, each of which has a hint', async () => {
      const hints = await ask<Record<string, string>>(
        pg,
        'select json_object_agg(error_class, hint) from outbox.error_hint',
      )
      // The database alone gives the last two.
      const expected = [...errorClasses, 'lease_expired', 'provider']
      expect(Object.keys(hints).sort()).toEqual(expected.sort())
      for (const hint of Object.values(hints)) {
        expect(hint).toMatch(/^[A-Z][^\n]{20,130}[^.]$/)
      }
    })
  })
})
