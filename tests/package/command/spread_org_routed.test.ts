import { expect } from '@std/expect'
import { type Given, whyNotRouted } from '../../../package/command/spread_org/routed.ts'

/** What the command says for these names, with these routes. */
async function why(
  routes: string | null,
  names: string[],
  more: Partial<Given> = {},
): Promise<string | null> {
  return await whyNotRouted(
    { org: 'org-1', routes: 'routes.json', names, empty: [], ...more },
    () => routes === null ? Promise.reject(new Error('ENOENT')) : Promise.resolve(routes),
  )
}

const list = '{"*": ["eu-1", "eu-9"], "org-1": ["eu-1", "eu-2"], "org-9": "eu-3"}'
const head = '--routes routes.json sends the events of org-1 to eu-1, eu-2'
const restart = 'start all processes of outhook consume again'

Deno.test('whyNotRouted() accepts exactly the databases that take the events of the organisation', async () => {
  expect(await why(list, ['eu-2', 'eu-1'])).toBe(null)
  expect(await why(list, ['eu-1', 'eu-2'], { empty: ['eu-2'] })).toBe(null)
  expect(await why('{"org-1": "eu-1"}', ['eu-1'])).toBe(null)
})

Deno.test('whyNotRouted() names what differs, and what to do', async () => {
  expect(await why(list, ['eu-1']))
    .toBe(`${head}\neu-2 takes them, and may have endpoints: add --database eu-2`)
  expect(await why(list, ['eu-1', 'eu-2', 'eu-3'])).toBe(
    `${head}\neu-3 takes none: leave out --database eu-3, or write it into the list of org-1 and ${restart}`,
  )
  expect(await why(list, ['eu-1', 'eu-3']))
    .toMatch(/\neu-2 takes them.*\neu-3 takes none: leave out/)
})

Deno.test('whyNotRouted() accepts no database that is emptied and takes no events any more', async () => {
  expect(await why(list, ['eu-1', 'eu-2', 'eu-3'], { empty: ['eu-3'] })).toBe(
    `${head}\neu-3 takes none, and its endpoints would get no event until they have left it: write it into the ` +
      `list of org-1 again, ${restart}, and take it out when this command has ended with code 0`,
  )
})

Deno.test('whyNotRouted() has the one database of the hash for an organisation without an entry', async () => {
  // The hash of org-1 says eu-1 of these two.
  expect(await why('{"*": ["eu-1", "eu-2"]}', ['eu-1'])).toBe(null)
  expect(await why('{"*": ["eu-1", "eu-2"]}', ['eu-1', 'eu-2']))
    .toMatch(/^--routes routes\.json sends the events of org-1 to eu-1\neu-2 takes none/)
  expect(await why('{"org-9": "eu-3"}', ['eu-1', 'eu-2'])).toBe(
    '--routes routes.json has neither org-1 nor *, so it does not say the databases of org-1. Write the list of ' +
      `its databases for org-1, and ${restart}`,
  )
})

Deno.test('whyNotRouted() says what is wrong with the file', async () => {
  const rows: [text: string | null, says: string][] = [
    [null, 'cannot be read'],
    ['{', 'is not JSON'],
    ['[]', 'is not an object such as {"org-9": "eu-2"}'],
    [
      '{"org-9": "EU 1"}',
      'has no database for org-9: expected a name such as eu-1',
    ],
    [
      '{"org-1": ["eu-1", "eu-1"]}',
      'has no list of databases for org-1: expected names such as eu-1, each once',
    ],
    [
      '{"*": []}',
      'has a * that is not a list of databases: expected names such as eu-1',
    ],
  ]
  for (const [text, says] of rows) {
    expect(await why(text, ['eu-1'])).toBe(`--routes routes.json ${says}`)
  }
})
