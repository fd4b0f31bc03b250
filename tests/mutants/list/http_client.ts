import type { Mutant } from '../mutant.ts'

export const httpClient: readonly Mutant[] = [
  {
    file: 'functions/_shared/http1/response.ts',
    find: `if (taken < bytes.length) this.#isClean = false
`,
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'An answer that nobody asked for is taken for that to the next request.',
  },
  {
    file: 'functions/_shared/http1/response.ts',
    find: `if (head.status === 101) throw malformed('An upgrade without a request for it')
`,
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A 101 is read over and the attempt hangs.',
  },
  {
    file: 'functions/_shared/http1/response.ts',
    find: `      if (this.#interimBytes > longestHead) throw tooLong()
`,
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A receiver keeps a run by interim answers without end.',
  },
  {
    file: 'functions/_shared/http1/response.ts',
    find: 'if (end > longestHead) throw tooLong()',
    replace: 'if (end > longestHead * 64) throw tooLong()',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A head of a megabyte is read.',
  },
  {
    file: 'functions/_shared/http1/body.ts',
    find: `if (line !== '') throw malformed('A chunk is longer than its size')
`,
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A chunk that is longer than it says is read as two.',
  },
  {
    file: 'functions/_shared/http1/body.ts',
    find: `if (!this.#line.endsWith('\\r')) throw malformed('A line ends with only a line feed')
`,
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: `A bare line feed ends a chunk's line, and two readers see two answers.`,
  },
  {
    file: 'functions/_shared/http1/body.ts',
    find:
      `      if (this.#extensionBytes > maxExtensionBytes) throw malformed('Chunk extensions too long')
`,
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A receiver sends 268 MB as extensions of chunks.',
  },
  {
    file: 'functions/_shared/http1/body.ts',
    find:
      `      if (this.#trailerBytes > maxTrailerBytes) throw malformed('The trailer is too long')
`,
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A receiver keeps a run by a trailer without end.',
  },
  {
    file: 'functions/_shared/http1/head.ts',
    find:
      `    if (lengths !== undefined) throw malformed('Both content-length and transfer-encoding')
`,
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'An answer with two framings is read by one of them.',
  },
  {
    file: 'functions/_shared/http1/head.ts',
    find: '|| lengths.some((other) => other !== length)',
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'An answer with two lengths is read by the first.',
  },
  {
    file: 'functions/_shared/http1/head.ts',
    find: 'status === 204 || status === 304',
    replace: 'status === 304',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'An attempt that is answered 204 waits for the end of the connection.',
  },
  {
    file: 'functions/_shared/http1/head.ts',
    find: `return !words.includes('close') &&`,
    replace: 'return words.length > 0 &&',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A connection that the peer closes is used again.',
  },
  {
    file: 'functions/_shared/http1/request.ts',
    find: '!value.test(text)',
    replace: 'false',
    tests: ['functions/_shared/http1/request.test.ts'],
    why: 'A header with a line end makes two requests of one.',
  },
  {
    file: 'functions/_shared/http1/request.ts',
    find: 'url.pathname + url.search',
    replace: 'url.pathname',
    tests: ['functions/_shared/http1/request.test.ts'],
    why: `The query of an endpoint's URL is not sent.`,
  },
  {
    file: 'functions/_shared/http1/pools.ts',
    find: `      origin.retire()
`,
    replace: '',
    tests: ['functions/_shared/http1/pools.test.ts'],
    why: `A connection goes on that the operator's new rules forbid.`,
  },
  {
    file: 'functions/_shared/http1/pools.ts',
    find: `const name = url.origin
`,
    replace: `const name = url.host
`,
    tests: ['functions/_shared/http1/pools.test.ts'],
    why: 'A request for https goes out on a connection without TLS.',
  },
  {
    file: 'functions/_shared/http1/pools.ts',
    find: `if (sockets <= maxSockets) return
`,
    replace: `if (sockets <= maxSockets * 2) return
`,
    tests: ['functions/_shared/http1/pools.test.ts'],
    why: 'More connections are open than the bound says.',
  },
  {
    file: 'functions/_shared/http1/origin.ts',
    find: 'if (this.#isRetired || keepMs <= 0) return connection.close()',
    replace: 'if (this.#isRetired) return connection.close()',
    tests: ['functions/_shared/http1/origin.test.ts', 'functions/_shared/http1/pools.test.ts'],
    why: 'A connection is kept that the peer keeps no longer.',
  },
  {
    file: 'functions/_shared/http1/origin.ts',
    find: `      if (!connection.isOpen) continue
`,
    replace: '',
    tests: ['functions/_shared/http1/origin.test.ts'],
    why: 'A request is written into a connection that has closed.',
  },
  {
    file: 'functions/_shared/http1/origin.ts',
    find: 'const at = this.#waiting.findIndex(({ waitsSince }) => waitsSince <= startedAt)',
    replace: 'const at = 0',
    tests: ['functions/_shared/http1/origin.test.ts'],
    why: 'One failed connection refuses a request that came later.',
  },
  {
    file: 'functions/_shared/http1/origin.ts',
    find: 'const room = this.options.maxConnections - this.#connections.size - this.#opening.size',
    replace: 'const room = this.options.maxConnections - this.#connections.size',
    tests: ['functions/_shared/http1/origin.test.ts', 'functions/_shared/http1/pools.test.ts'],
    why: 'More connections to one origin are opened than it may have.',
  },
  {
    file: 'functions/_shared/transport/http1.ts',
    find: 'if (this.deps.now() >= this.deadline) {',
    replace: 'if (this.isSettled) {',
    tests: ['functions/_shared/transport/late.test.ts'],
    why: 'A run that got no CPU time sends a request whose lease may have ended.',
  },
  {
    file: 'functions/_shared/transport/http1.ts',
    find: 'Math.min(said - keepMarginMs, longestKeepMs)',
    replace: 'said',
    tests: ['functions/_shared/http1/pools.test.ts', 'functions/_shared/senders/webhook.test.ts'],
    why: 'A request meets a connection that is being closed, and fails.',
  },
  {
    file: 'functions/_shared/transport/http1.ts',
    find: 'if (!this.#response.isReusable || !connection.isDrained) return',
    replace: 'if (!this.#response.isReusable) return',
    tests: ['functions/_shared/http1/pools.test.ts', 'functions/_shared/senders/webhook.test.ts'],
    why: 'The rest of a body goes out as the beginning of another request.',
  },
  {
    file: 'functions/_shared/transport/http1.ts',
    find: `if (this.#head !== null) this.#settleResponse(true)
    else if (this.#connection === null)`,
    replace: `if (this.#connection === null)`,
    tests: ['functions/_shared/senders/webhook.test.ts', 'functions/_shared/http1/pools.test.ts'],
    why: 'A delivery that was answered 200 is sent again because its body hung.',
  },
  {
    file: 'functions/_shared/transport/limited_body.ts',
    find: 'chunk.slice(0, room)',
    replace: 'chunk.slice(0)',
    tests: ['functions/_shared/senders/webhook.test.ts'],
    why: 'More of a response is kept than the setting says.',
  },
  {
    file: 'functions/_shared/transport/fault.ts',
    find: `ECONNRESET: 'reset',`,
    replace: `ECONNRESET: 'connect',`,
    tests: ['functions/_shared/transport/fault.test.ts'],
    why: 'A lost answer counts as a refused connection.',
  },
  {
    file: 'functions/_shared/transport/fault.ts',
    find: `EAI_AGAIN: 'dns',`,
    replace: '',
    tests: ['functions/_shared/transport/fault.test.ts'],
    why: 'A name server that is away is reported as a bad answer.',
  },
]
