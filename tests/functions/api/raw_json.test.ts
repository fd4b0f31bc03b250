import { expect } from '@std/expect'
import fc from 'fast-check'
import { DuplicateName, findElements, findMembers } from '../../../functions/api/raw_json.ts'

function memberOf(text: string, name: string): string | undefined {
  const span = findMembers(text).get(name)
  return span === undefined ? undefined : text.slice(span.start, span.end)
}

const members: [text: string, payload: string | undefined][] = [
  ['{"payload":1.10}', '1.10'],
  [' \n{ "type" : "a" ,\t"payload" : { "a" : [ 1 , "}" ] } , "z":1 }', '{ "a" : [ 1 , "}" ] }'],
  ['{"payload":"a\\"b\\\\"}', '"a\\"b\\\\"'],
  ['{"payload":[]}', '[]'],
  ['{"payload":null ,"b":2}', 'null'],
  ['{"pay\\u006coad":true}', 'true'],
  ['{"inner":{"payload":1}}', undefined],
  ['{}', undefined],
  ['{"payload":1e400}', '1e400'],
]

for (const [text, payload] of members) {
  Deno.test(`findMembers() finds ${payload ?? 'no payload'} in ${text.trim()}`, () => {
    expect(memberOf(text, 'payload')).toBe(payload)
  })
}

Deno.test('findMembers() finds each member of any object where it stands', () => {
  fc.assert(fc.property(
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.integer({ min: 0, max: 3 }),
    (object, indent) => {
      const text = JSON.stringify(object, null, indent)
      // __proto__ as a name is no member of what JSON.stringify was given.
      for (const name of Object.keys(object)) {
        expect(JSON.parse(memberOf(text, name) ?? '')).toEqual(
          JSON.parse(JSON.stringify(object[name])),
        )
      }
      expect(findMembers(text).size).toBe(Object.keys(object).length)
    },
  ))
})

Deno.test('findElements() finds each element of any array where it stands', () => {
  fc.assert(fc.property(
    fc.array(fc.jsonValue()),
    fc.integer({ min: 0, max: 3 }),
    (array, indent) => {
      const text = JSON.stringify(array, null, indent)
      const found = findElements(text).map(({ start, end }) => JSON.parse(text.slice(start, end)))
      expect(found).toEqual(JSON.parse(text))
    },
  ))
})

Deno.test('findMembers() refuses a name that is there twice, however it is written', () => {
  expect(() => findMembers('{"a":1,"\\u0061":2}')).toThrow(DuplicateName)
})
