import { Buffer } from 'node:buffer'
import { expect } from '@std/expect'
import fc from 'fast-check'
import { ResponseReader } from '../../../../functions/_shared/http1/response.ts'
import { HttpError } from '../../../../functions/_shared/http1/error.ts'

type Read = {
  status?: number
  body: string
  state: 'done' | 'waits' | 'OUTHOOK_HTTP' | 'OUTHOOK_HEAD'
  /** Whether the end of the connection ends the answer. */
  ends?: boolean
  /** Whether the connection may be used again. */
  kept?: boolean
}

/** Reads an answer that comes in pieces of a given size. */
function readIn(size: number, text: string, most = Infinity): Read {
  const bytes = Buffer.from(text, 'latin1')
  const read: Read = { body: '', state: 'waits' }
  const reader = new ResponseReader({
    onHead: ({ status }) => {
      read.status = status
    },
    onBody: (piece) => {
      read.body += Buffer.from(piece).toString('latin1')
      return read.body.length <= most
    },
  })
  try {
    for (let at = 0; at < bytes.length && !reader.isDone; at += size) {
      reader.read(bytes.subarray(at, at + size))
    }
    if (reader.isDone) read.state = 'done'
  } catch (error) {
    if (!(error instanceof HttpError) || error.code === 'ECONNRESET') throw error
    read.state = error.code
  }
  return { ...read, ends: reader.end(), kept: reader.isReusable }
}

const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`
const done = { status: 200, state: 'done', kept: true } as const
const wrong = { state: 'OUTHOOK_HTTP', kept: false } as const
const empty = `${ok}content-length: 0\r\n\r\n`

const rows: [what: string, text: string, expected: Partial<Read>][] = [
  ['a length', `${ok}content-length: 2\r\n\r\nok`, { ...done, body: 'ok' }],
  ['no body', `${ok}content-length: 0\r\n\r\n`, { ...done, body: '' }],
  ['204 with a length', 'HTTP/1.1 204 x\r\ncontent-length: 9\r\n\r\n', { ...done, status: 204 }],
  ['304', 'HTTP/1.1 304 x\r\n\r\n', { ...done, status: 304 }],
  ['the same length twice', `${ok}content-length: 2\r\nContent-Length: 2\r\n\r\nok`, done],
  ['half a body', `${ok}content-length: 4\r\n\r\nok`, { state: 'waits', ends: false, body: 'ok' }],
  ['no length', `${ok}\r\nok`, { state: 'waits', ends: true, kept: false, body: 'ok' }],
  ['another coding', `${ok}transfer-encoding: gzip\r\n\r\nok`, { state: 'waits', ends: true }],
  ['chunks', `${chunked}3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\n`, { ...done, body: 'abcde' }],
  ['chunks and a trailer', `${chunked}A\r\n0123456789\r\n0\r\nx: y\r\n\r\n`, done],
  ['half a chunk', `${chunked}5\r\nabc`, { state: 'waits', ends: false, body: 'abc' }],
  ['100 and 103 before', `HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\nlink: x\r\n\r\n${ok}\r\n`, {
    status: 200,
    state: 'waits',
    ends: true,
  }],
  ['close', `${ok}connection: Close\r\ncontent-length: 0\r\n\r\n`, { ...done, kept: false }],
  ['1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n', { ...done, kept: false }],
  [
    '1.0 that stays',
    'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n',
    done,
  ],
  ['no reason', 'HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n', done],
  ['a reason in latin1', 'HTTP/1.1 200 \xe4h\r\ncontent-length: 0\r\n\r\n', done],
  ['half a head', `${ok}content-`, { state: 'waits', ends: false }],
  ['nothing', '', { state: 'waits', ends: false }],
  ['not HTTP', 'SSH-2.0-x', wrong],
  ['HTTP/2', 'HTTP/2 200\r\n\r\n', wrong],
  ['a status of two digits', 'HTTP/1.1 99 x\r\n\r\n', wrong],
  ['an upgrade', 'HTTP/1.1 101 x\r\n\r\n', wrong],
  ['two lengths', `${ok}content-length: 2\r\ncontent-length: 3\r\n\r\nok`, wrong],
  ['two lengths in one', `${ok}content-length: 2, 3\r\n\r\nok`, wrong],
  ['a negative length', `${ok}content-length: -1\r\n\r\n`, wrong],
  ['a length in hexadecimal', `${ok}content-length: 0x2\r\n\r\nok`, wrong],
  ['a length and chunks', `${chunked.trimEnd()}\r\ncontent-length: 2\r\n\r\n0\r\n\r\n`, wrong],
  // The status is read although the rest of the head is not valid.
  ['a blank line before the first field', `${ok} b\r\nx: a\r\n\r\n`, { ...wrong, status: 200 }],
  ['a folded control character', `${ok}x: a\r\n b\0\r\n\r\n`, { ...wrong, status: 200 }],
  ['410 of an invalid length', 'HTTP/1.1 410 x\r\ncontent-length: z\r\n\r\n', {
    ...wrong,
    status: 410,
  }],
  ['a length and an unknown coding', `${ok}transfer-encoding: x\r\ncontent-length: 2\r\n\r\nok`, {
    ...wrong,
    status: 200,
  }],
  ['a field without a name', `${ok}: a\r\n\r\n`, { ...wrong, status: 200 }],
  ['a line feed alone after the status line', `${ok}x: a\n`, { ...wrong, status: 200 }],
  ['an interim answer with an invalid line', `HTTP/1.1 103 E\r\nx\r\n\r\n${empty}`, wrong],
  // RFC 9112 to the letter.
  ['a head in line feeds alone', 'HTTP/1.1 200 OK\n', wrong],
  ['a folded length', `${ok}content-length:\r\n\t 2 \r\n\r\nok`, { ...done, body: 'ok' }],
  ['a folded word', `${ok}connection: keep-alive,\r\n close\r\ncontent-length: 0\r\n\r\n`, {
    ...done,
    kept: false,
  }],
  ['a length with tabs around', `${ok}content-length:\t2\t\r\n\r\nok`, { ...done, body: 'ok' }],
  ['a length with a no-break space', `${ok}content-length: 2\xa0\r\n\r\nok`, {
    ...wrong,
    status: 200,
  }],
  ['a length with a no-break space before', `${ok}content-length: \xa02\r\n\r\nok`, wrong],
  ['a length with a sign', `${ok}content-length: +2\r\n\r\nok`, wrong],
  ['an empty length', `${ok}content-length:\r\n\r\n`, wrong],
  ['a length of sixteen digits', `${ok}content-length: 1${'0'.repeat(15)}\r\n\r\n`, wrong],
  ['a length with leading zeros', `${ok}content-length: ${'0'.repeat(4_000)}2\r\n\r\nok`, {
    ...done,
    body: 'ok',
  }],
  ['the same length with and without zeros', `${ok}content-length: 2, 02\r\n\r\nok`, done],
  ['a size with leading zeros', `${chunked}${'0'.repeat(4_094)}2\r\nok\r\n0\r\n\r\n`, {
    ...done,
    body: 'ok',
  }],
  ['a last chunk of many zeros', `${chunked}2\r\nok\r\n${'0'.repeat(50)}\r\n\r\n`, done],
  ['a size of thirteen digits', `${chunked}1000000000000\r\n`, wrong],
  ['a NUL in an extension', `${chunked}2;a=\0\r\nok\r\n0\r\n\r\n`, wrong],
  ['a CR in an extension', `${chunked}2;a=\rb\r\nok\r\n0\r\n\r\n`, wrong],
  ['blanks before an extension', `${chunked}2 \t;a="b"\r\nok\r\n0\r\n\r\n`, done],
  ['a NUL in a trailer', `${chunked}0\r\nx: \0\r\n\r\n`, wrong],
  ['a trailer without a colon', `${chunked}0\r\nxy\r\n\r\n`, wrong],
  ['a folded trailer', `${chunked}0\r\nx: a\r\n b\r\n\r\n`, done],
  ['a trailer that begins with a blank', `${chunked}0\r\n x: a\r\n\r\n`, wrong],
  ['a trailer that ends in a line feed alone', `${chunked}0\r\nx: a\n\r\n`, wrong],
  ['1.0 with chunks', `${chunked.replace('1.1', '1.0')}2\r\nok\r\n0\r\n\r\n`, {
    ...done,
    body: 'ok',
    kept: false,
  }],
  [
    '1.0 with chunks that wants to stay',
    `HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    { ...done, kept: false },
  ],
  ['an empty element after chunked', `${ok}transfer-encoding: chunked,\r\n\r\n0\r\n\r\n`, done],
  ['chunked that is not last', `${ok}transfer-encoding: chunked, x\r\n\r\n0\r\n`, {
    state: 'waits',
    ends: true,
    body: '0\r\n',
  }],
  ['empty lines before the status line', `\r\n\r\n${ok}content-length: 0\r\n\r\n`, done],
  ['an empty line after an interim answer', `HTTP/1.1 100 C\r\n\r\n\r\n${empty}`, done],
  ['empty lines of 16,384 bytes', `${'\r\n'.repeat(8_192)}${empty}`, done],
  ['empty lines of 16,386 bytes', `${'\r\n'.repeat(8_193)}${empty}`, { state: 'OUTHOOK_HEAD' }],
  ['a line feed before the status line', `\n${empty}`, wrong],
  ['a CR before the status line', `\r${empty}`, wrong],
  ['a blank before the colon', `${ok}x : a\r\n\r\n`, wrong],
  ['a line feed alone', `${ok}x: a\ny: b\r\n\r\n`, wrong],
  ['a NUL', `${ok}x: a\0\r\n\r\n`, wrong],
  ['a chunk without a size', `${chunked}\r\nabc`, wrong],
  ['a chunk of a negative size', `${chunked}-1\r\n`, wrong],
  ['a chunk that is longer than it says', `${chunked}2\r\nabc\r\n`, wrong],
  ['a size that ends in a line feed alone', `${chunked}2\nab\r\n`, wrong],
  ['a size that loses a digit to a line feed alone', `${chunked}10\nA\r\n0\r\n\r\n`, wrong],
  ['a size of 5,000 letters', `${chunked}2;${'x'.repeat(5_000)}`, wrong],
  ['interim answers without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000), {
    state: 'OUTHOOK_HEAD',
    kept: false,
  }],
  [
    'forty interim answers',
    `${'HTTP/1.1 102 P\r\n\r\n'.repeat(40)}${ok}content-length: 0\r\n\r\n`,
    done,
  ],
  [
    'extensions without end',
    `${chunked}${`1;${'e'.repeat(4000)}\r\nx\r\n`.repeat(5)}0\r\n\r\n`,
    wrong,
  ],
  ['many small extensions', `${chunked}${'1;e=1\r\nx\r\n'.repeat(1000)}0\r\n\r\n`, done],
  [
    'a trailer of 20,000 letters',
    `${chunked}0\r\n${`x: ${'y'.repeat(2_000)}\r\n`.repeat(10)}`,
    wrong,
  ],
  ['a head of 20,000 letters', `${ok}x: ${'y'.repeat(20_000)}\r\n\r\n`, { state: 'OUTHOOK_HEAD' }],
  ['a head without end', `${ok}x: ${'y'.repeat(20_000)}`, { state: 'OUTHOOK_HEAD' }],
  // Every limit at its bound, and one beyond.
  ['a head of 16,384 bytes', headOf(16_384), done],
  ['a head of 16,385 bytes', headOf(16_385), { state: 'OUTHOOK_HEAD' }],
  ['interim answers of 16,384 bytes', `${interim(16_384)}${empty}`, done],
  ['interim answers of 16,385 bytes', `${interim(16_385)}${empty}`, { state: 'OUTHOOK_HEAD' }],
  ['a size line of 4,096 bytes', `${chunked}1;${'e'.repeat(4_093)}\r\nx\r\n0\r\n\r\n`, done],
  ['a size line of 4,097 bytes', `${chunked}1;${'e'.repeat(4_094)}\r\nx\r\n0\r\n\r\n`, wrong],
  ['extensions of 16,384 bytes', `${extensions(16_384)}0\r\n\r\n`, done],
  ['extensions of 16,385 bytes', `${extensions(16_385)}0\r\n\r\n`, wrong],
  ['a trailer of 16,384 bytes', `${chunked}0\r\n${trailer(16_384)}\r\n`, done],
  ['a trailer of 16,385 bytes', `${chunked}0\r\n${trailer(16_385)}\r\n`, wrong],
]

/** An answer whose head, without the empty line that ends it, has so many bytes. */
function headOf(bytes: number): string {
  const begin = `${ok}content-length: 0\r\nx: `
  return `${begin.padEnd(bytes, 'y')}\r\n\r\n`
}

/** Two interim answers of so many bytes together. */
function interim(bytes: number): string {
  const first = 'HTTP/1.1 102 P\r\n\r\n'
  return `${first}${`HTTP/1.1 103 E\r\nx: `.padEnd(bytes - first.length - 4, 'y')}\r\n\r\n`
}

/** Chunks beside whose sizes so many bytes stand. */
function extensions(bytes: number): string {
  const chunk = (extra: number): string => `1;${'e'.repeat(extra - 1)}\r\nx\r\n`
  return `${chunked}${chunk(4_000).repeat(4)}${chunk(bytes - 16_000)}`
}

/** Trailer lines of so many bytes, their ends not counted. */
function trailer(bytes: number): string {
  const line = (length: number): string => `${'x: '.padEnd(length, 'y')}\r\n`
  return line(4_000).repeat(4) + line(bytes - 16_000)
}

for (const [what, text, expected] of rows) {
  Deno.test(`ResponseReader reads the same however it comes in pieces: ${what}`, () => {
    for (const size of [1, 2, 3, 7, 64, 100_000]) {
      expect([size, readIn(size, text)]).toEqual([size, expect.objectContaining(expected)])
    }
  })
}

Deno.test('ResponseReader does not reuse a connection with bytes after the response', () => {
  const text = `${ok}content-length: 2\r\n\r\nokHTTP/1.1 200 OK`
  expect(readIn(1_000, text)).toMatchObject({ body: 'ok', state: 'done', kept: false })
})

Deno.test('ResponseReader stops where no more is wanted, and leaves no connection then', () => {
  const text = `${ok}content-length: 200\r\n\r\n${'x'.repeat(200)}`
  for (const size of [1, 10, 1_000]) {
    expect(readIn(size, text, 20)).toMatchObject({ state: 'done', kept: false })
  }
})

/** Pieces of answers, right and wrong, in any order. */
const scraps = [
  ok,
  'HTTP/1.1 100 C\r\n\r\n',
  'HTTP/1.0 404 x\r\n',
  'content-length: 3\r\n',
  'transfer-encoding: chunked\r\n',
  'connection: close\r\n',
  'x: y\r\n',
  '\r\n',
  '\n',
  'abc',
  '3\r\nabc\r\n',
  '0\r\n\r\n',
  '\0',
  ' ',
  ':',
]

Deno.test('ResponseReader comes to the same end of anything, however it comes in pieces', () => {
  const text = fc.array(fc.oneof(fc.constantFrom(...scraps), fc.string({ maxLength: 4 })), {
    maxLength: 12,
  }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 40 }), (given, size) => {
      const whole = readIn(100_000, given)
      const pieces = readIn(size, given)
      // What comes behind an answer is seen only when it comes in the same piece, and an error in
      // it never is.
      delete whole.kept
      delete pieces.kept
      expect(pieces).toEqual(whole)
    }),
    { numRuns: 3_000 },
  )
})
