/** Words that name nothing of ours any more: the schema, the API, the metrics and the glossary have one word for one thing. */
import { expect } from '@std/expect'
import { join } from 'node:path'
import { counterFamilies } from '../../functions/metrics/counters.ts'
import type { Family } from '../../functions/metrics/family.ts'
import { gaugeFamilies } from '../../functions/metrics/gauges.ts'
import { histogramFamilies } from '../../functions/metrics/histograms.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { someAnswer } from '../functions/metrics/_answer.ts'

/** The words that are no longer used, each with the word that is. */
const retired: Record<string, string> = {
  state: 'status',
  states: 'statuses',
  tries: 'failed_attempts',
  receipt: 'attempt',
  receipts: 'attempts',
  answer: 'response',
  answers: 'responses',
  wish: 'preference',
  wishes: 'preferences',
  heed: 'apply',
  told: 'reported',
}

type Name = { name: string; place: string }

/** Each name that has a retired word in it, with its place and the word to use. */
function retiredNames(names: readonly Name[]): string[] {
  const found = names.flatMap(({ name, place }) => {
    // sqlState is an SQLSTATE, which is not a word of ours.
    const words = name.replace('sqlState', 'sqlstate').replace(/([a-z\d])([A-Z])/g, '$1_$2')
      .toLowerCase().split(/[^a-z\d]+/)
    return words.filter((word) => Object.hasOwn(retired, word))
      .map((word) => `${place}: ${name} (${word}: use ${retired[word]})`)
  })
  return [...new Set(found)]
}

/**
 * The identifiers of a schema as pg_dump writes it, those in the bodies of functions included, and
 * the members of JSON: a string that is one word, and a "word" within a string. What reads filters
 * has a state in the sense of a parser.
 */
function schemaNames(dump: string): Name[] {
  const token = /--[^\n]*|'((?:[^']|'')*)'|"(\w+)"|([a-z_][a-z\d_]*)/gi
  return dump.split(/^-- Name: /m).slice(1)
    .filter((part) => !/\bfilter_state\b/.test(part))
    .flatMap((part) => {
      const place = `schema, ${part.slice(0, part.indexOf('\n'))}`
      const names = [...part.slice(part.indexOf('\n')).matchAll(token)]
        .flatMap(([, text, quoted, identifier]) => {
          if (text === undefined) return [quoted ?? identifier ?? '']
          if (/^\w+$/.test(text)) return [text]
          return [...text.matchAll(/"(\w+)"/g)].map(([, member = '']) => member)
        })
      return names.map((name) => ({ name, place }))
    })
}

/** The members of all objects of a JSON document, and the values of `name` and `operationId`. */
function jsonNames(value: unknown, place: string): Name[] {
  if (Array.isArray(value)) return value.flatMap((one) => jsonNames(one, place))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [
    { name: key, place },
    ...['name', 'operationId'].includes(key) && typeof member === 'string'
      ? [{ name: member, place }]
      : [],
    ...jsonNames(member, `${place}/${key}`),
  ])
}

/** The names and labels of metrics. */
function metricNames(families: readonly Family[]): Name[] {
  return families.flatMap(({ name, samples }) =>
    [name, ...samples.flatMap(({ labels }) => labels.map(([label]) => label))]
      .map((one) => ({ name: one, place: `metric ${name}` }))
  )
}

/** The metrics that a query of PromQL names, their labels, and what it groups by. */
function queryNames(text: string, place: string): Name[] {
  return [...text.matchAll(/\b(?:outhook_\w+|by \([^)]*\)|\w+(?=(?:=~|!=|!~|=)\\?"))/g)]
    .map(([name]) => ({ name, place }))
}

function read(path: string): Promise<string> {
  return Deno.readTextFile(join(projectRoot, path))
}

/** The words that the glossary explains. */
function glossaryWords(text: string): string[] {
  return [...text.matchAll(/^\| ([^|]+?) +\|/gm)].map(([, word = '']) => word)
    .filter((word) => word !== 'word' && !/^-+$/.test(word))
}

Deno.test('the schema has no name with a retired word', async () => {
  const names = schemaNames(await read('tests/sql/schema.expected.sql'))
  expect(names.length).toBeGreaterThan(10_000)
  expect(retiredNames(names)).toEqual([])
})

Deno.test('the API has no name with a retired word', async () => {
  const names = jsonNames(JSON.parse(await read('functions/api/openapi.json')), 'openapi.json')
  expect(names.length).toBeGreaterThan(1_000)
  expect(retiredNames(names)).toEqual([])
})

Deno.test('the metrics, the alerts and the dashboard have no name with a retired word', async () => {
  const answer = someAnswer()
  const families = [
    ...counterFamilies(answer),
    ...gaugeFamilies(answer),
    ...histogramFamilies(answer),
  ]
  expect(families.length).toBeGreaterThan(30)
  const names = metricNames(families)
  for (const path of ['sql/ops/alerts.yml', 'sql/ops/dashboard.json']) {
    names.push(...queryNames(await read(path), path))
  }
  expect(retiredNames(names)).toEqual([])
})

Deno.test('the glossary explains each word once, and uses no retired one', async () => {
  const text = await read('docs/glossary.md')
  const words = glossaryWords(text)
  expect(words).toEqual([...new Set(words)])
  expect(words).toEqual(expect.arrayContaining(['attempt', 'failed attempts', 'status']))
  const names = text.split('\n').flatMap((line, index) =>
    (line.match(/\w+/g) ?? []).map((name) => ({ name, place: `docs/glossary.md:${index + 1}` }))
  )
  expect(retiredNames(names)).toEqual([])
})

Deno.test('a retired word is found wherever it is a name, and nowhere else', () => {
  const dump = `-- Name: endpoint; Type: TABLE
CREATE TABLE outbox.endpoint (state text, p_state text, sqlstate text, tracestate text);
COMMENT ON TABLE outbox.endpoint IS 'The state of one; returns {"tries"}';
-- Name: f(); Type: FUNCTION
  return jsonb_build_object('stateReason', 1); -- the receipt
-- Name: read_filter(); Type: FUNCTION
  p_state outbox.filter_state
`
  expect(retiredNames(schemaNames(dump))).toEqual([
    'schema, endpoint; Type: TABLE: state (state: use status)',
    'schema, endpoint; Type: TABLE: p_state (state: use status)',
    'schema, endpoint; Type: TABLE: tries (tries: use failed_attempts)',
    'schema, f(); Type: FUNCTION: stateReason (state: use status)',
  ])
  const api = { properties: { receipts: {} }, parameters: [{ name: 'state' }], enum: ['state'] }
  expect(retiredNames(jsonNames(api, 'api'))).toEqual([
    'api/properties: receipts (receipts: use attempts)',
    'api/parameters: state (state: use status)',
  ])
  const query = 'sum by (kind, state) (outhook_tries_total{state!=\\"held\\", alertstate="firing"})'
  expect(retiredNames(queryNames(query, 'alert'))).toEqual([
    'alert: by (kind, state) (state: use status)',
    'alert: outhook_tries_total (tries: use failed_attempts)',
    'alert: state (state: use status)',
  ])
})
