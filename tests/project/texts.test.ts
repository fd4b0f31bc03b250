import { expect } from '@std/expect'
import { projectFiles, readProjectFile } from './_tracked.ts'

const self = 'tests/project/texts.test.ts'
// The receiver of the tests speaks TLS with a key that is worth nothing anywhere else.
const testKey = 'tests/e2e/receiver/certificate.ts'
const files = (await projectFiles()).filter((path) => path !== self && path !== testKey)

/** What no file may contain, and why. */
const forbidden: [what: string, pattern: RegExp][] = [
  ['a marker of unfinished work', /\b(TODO|FIXME|XXX|HACK)\b/],
  ['a path of one machine', /(^|[\s'"`(=:])(\/root\/|\/home\/[a-z]|\/work\/|\/Users\/|C:\\)/m],
  [
    'the host of a package registry',
    /\b(registry|npm|packages)\.[a-z0-9-]+\.(org|com|dev|io|net)\b/,
  ],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
  ['a merge conflict', /^(<{7}|>{7}) /m],
]

for (const [what, pattern] of forbidden) {
  Deno.test(`no file contains ${what}`, async () => {
    const found: string[] = []
    // The bytes of a picture may be any text.
    for (const path of files.filter((name) => !name.endsWith('.png'))) {
      const lines = (await readProjectFile(path) ?? '').split('\n')
      lines.forEach((line, index) => {
        // TODO is also a word of the Test Anything Protocol, which its reader must know.
        if (pattern.test(line) && !/# TODO|#\\s\*todo/.test(line)) {
          found.push(`${path}:${index + 1}: ${line.trim().slice(0, 100)}`)
        }
      })
    }
    expect(found).toEqual([])
  })
}

Deno.test('every text file ends with one line end and has no blanks at the ends of lines', async () => {
  const found: string[] = []
  for (const path of files.filter((name) => /\.(ts|sql|md|json|toml|txt)$/.test(name))) {
    const text = await readProjectFile(path)
    if (text === null || text === '') continue
    if (!text.endsWith('\n') || text.endsWith('\n\n')) found.push(`${path}: its end`)
    if (path.endsWith('.sql') && /[ \t]$/m.test(text)) found.push(`${path}: blanks at line ends`)
  }
  expect(found).toEqual([])
})
