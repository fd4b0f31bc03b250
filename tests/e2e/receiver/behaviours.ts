import { gzipSync } from 'node:zlib'
import type { Exchange as HttpExchange } from '../../../supabase/local/http/exchange.ts'

/** What a behaviour may do with the connection of a request. */
export type Exchange = HttpExchange & {
  /** The words after the behaviour's name in the path. */
  words: string[]
  query: URLSearchParams
  /** How often this path was asked before with the same webhook-id. */
  seenBefore: number
}

/** Answers one request, or does whatever else a receiver can do to it. */
export type Behaviour = (exchange: Exchange) => Promise<void> | void

/** What the receiver does by the first word of the path; any other path is answered with 200 `ok`. */
export const behaviours: Record<string, Behaviour> = {
  /** `/status/503?retry-after=3&location=…`: that status, with the query's entries as headers. */
  status: ({ words, query, answer }) =>
    answer(
      number(words[0], 200),
      'as asked',
      [...query].map(([name, value]) => `${name}: ${value}`),
    ),
  /** `/slow/300`: 200 after 300 ms. */
  slow: async ({ words, pause, answer }) => {
    await pause(number(words[0], 100))
    await answer(200)
  },
  /** `/late-body/300/500`: a head and half of the body after 300 ms, the other half at 500 ms. */
  'late-body': async ({ words, write, pause }) => {
    const headAt = number(words[0], 100)
    await pause(headAt)
    await write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no')
    await pause(number(words[1], 200) - headAt)
    await write('k')
  },
  /** `/fail/2`: the first two attempts of each event get 503, the next one 200. */
  fail: ({ words, seenBefore, answer }) => answer(seenBefore < number(words[0], 1) ? 503 : 200),
  /** Takes the request and says nothing. */
  hang: ({ pause }) => pause(Infinity),
  /** Half a head, then nothing. */
  'hang-head': async ({ write, pause }) => {
    await write('HTTP/1.1 200 OK\r\ncontent-type: te')
    await pause(Infinity)
  },
  /** A head that comes a byte a second. */
  'drip-head': async ({ write, pause }) => {
    for (const byte of 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok') {
      await write(byte)
      await pause(1_000)
    }
  },
  /** `/drip/500`: the head at once, then a byte every 50 ms of a body that does not end. */
  drip: async ({ words, write, pause }) => {
    await write(`HTTP/1.1 ${number(words[0], 200)} x\r\ncontent-length: 1000000\r\n\r\n`)
    for (;;) {
      await write('.')
      await pause(50)
    }
  },
  /** `/big/100000/500`: a body of so many bytes. */
  big: ({ words, answer }) => answer(number(words[1], 200), 'b'.repeat(number(words[0], 100_000))),
  /** `/endless/500`: a body that comes as fast as it is read and does not end. */
  endless: async ({ words, write }) => {
    await write(`HTTP/1.1 ${number(words[0], 200)} x\r\ntransfer-encoding: chunked\r\n\r\n`)
    const chunk = `4000\r\n${'e'.repeat(0x4000)}\r\n`
    for (;;) await write(chunk)
  },
  /** Closes without an answer. */
  reset: ({ close }) => close(),
  /** `/cut/500`: promises 1,000 bytes, sends ten and closes. */
  cut: async ({ words, write, close }) => {
    await write(`HTTP/1.1 ${number(words[0], 200)} x\r\ncontent-length: 1000\r\n\r\n0123456789`)
    close()
  },
  /** `/gzip/500`: 10 MB of zeros in 10 kB. */
  gzip: ({ words, answer }) =>
    answer(number(words[0], 200), gzipSync('0'.repeat(10_000_000)), ['content-encoding: gzip']),
  /** Something that is not HTTP. */
  garbage: ({ write }) => write('SSH-2.0-OpenSSH_9.2p1\r\n\r\n'),
  /** A head of 200 kB. */
  flood: ({ write }) => write(`HTTP/1.1 200 OK\r\nx-flood: ${'f'.repeat(200_000)}\r\n\r\n`),
  /** 5,000 headers. */
  headers: ({ answer }) =>
    answer(200, 'ok', Array.from({ length: 5_000 }, (_, n) => `x-${n}: flood`)),
  /** `/first-line/HTTP%2F1.1 99 x`: a status line as asked, and an empty body. */
  'first-line': ({ words, write }) =>
    write(`${decodeURIComponent(words[0] ?? '')}\r\ncontent-length: 0\r\n\r\n`),
  /** An answer that says twice, and differently, how long it is. */
  'two-lengths': ({ write }) =>
    write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 5\r\n\r\nok'),
  /** An answer that says twice, and in two ways, how long it is. */
  'two-framings': ({ write }) =>
    write(
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    ),
  /** `/bad-length/410`: a length that is no number. */
  'bad-length': ({ words, write }) =>
    write(`HTTP/1.1 ${number(words[0], 200)} x\r\ncontent-length: two\r\n\r\nok`),
  /** Chunks whose size is no number. */
  'bad-chunk': ({ words, write }) =>
    write(`HTTP/1.1 ${number(words[0], 200)} x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nok\r\n`),
  /** `/only/103`: an interim answer and nothing after it. */
  only: async ({ words, write, pause }) => {
    await write(`HTTP/1.1 ${number(words[0], 103)} x\r\n\r\n`)
    await pause(Infinity)
  },
  /** Answers the first request of a connection and keeps it; at the second one it closes without a word. */
  stale: ({ nth, answer, close }) => nth === 1 ? answer(200) : close(),
  /** `/interim/103`: an interim answer before the real one. */
  interim: async ({ words, write, answer }) => {
    await write(`HTTP/1.1 ${number(words[0], 103)} x\r\nlink: </a>; rel=preload\r\n\r\n`)
    await answer(200)
  },
  /** `/bytes/500`: a body that is not UTF-8 and holds NUL. */
  bytes: ({ words, answer }) =>
    answer(number(words[0], 200), new Uint8Array([0x61, 0x00, 0xff, 0xc3, 0x28, 0x62])),
  /** 200, and the connection closes although it promised to stay. */
  'close-after': async ({ answer, close }) => {
    await answer(200)
    close()
  },
}

function number(word: string | undefined, otherwise: number): number {
  return word === undefined ? otherwise : Number(word)
}
