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
    find: `    if (this.#bytesBefore > longestHead) throw tooLong()
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
    find: `    if (this.#trailerBytes > maxTrailerBytes) throw malformed('The trailer is too long')
`,
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A receiver keeps a run by a trailer without end.',
  },
  {
    file: 'functions/_shared/http1/framing.ts',
    find:
      `    if (lengths !== undefined) throw malformed('Both content-length and transfer-encoding')
`,
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'An answer with two framings is read by one of them.',
  },
  {
    file: 'functions/_shared/http1/framing.ts',
    find: '|| others.some((other) => other !== bytes)',
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'An answer with two lengths is read by the first.',
  },
  {
    file: 'functions/_shared/http1/framing.ts',
    find: 'status === 204 || status === 304',
    replace: 'status === 304',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'An attempt that is answered 204 waits for the end of the connection.',
  },
  {
    file: 'functions/_shared/http1/framing.ts',
    find: `return !options.includes('close') &&`,
    replace: 'return options.length >= 0 &&',
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
    find: 'if (sockets <= maxSockets) return',
    replace: 'if (sockets <= maxSockets * 2) return',
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
    file: 'functions/_shared/transport/attempt.ts',
    find: 'if (this.deps.now() >= this.deadline) {',
    replace: 'if (this.isSettled) {',
    tests: ['functions/_shared/transport/late.test.ts'],
    why: 'A run that got no CPU time sends a request whose lease may have ended.',
  },
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: 'Math.min(said - keepMarginMs, longestKeepMs)',
    replace: 'said',
    tests: ['functions/_shared/http1/pools.test.ts', 'functions/_shared/senders/webhook.test.ts'],
    why: 'A request meets a connection that is being closed, and fails.',
  },
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: 'return this.#isRepeatable ? this.deps.keepMs : Math.min(this.deps.keepMs, onceKeepMs)',
    replace: 'return this.deps.keepMs',
    tests: ['functions/_shared/transport/kept.test.ts'],
    why: 'A request that may not be sent again meets a connection that the peer is closing.',
  },
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: 'if (!this.#response.isReusable || !connection.isDrained) return',
    replace: 'if (!this.#response.isReusable) return',
    tests: ['functions/_shared/http1/pools.test.ts', 'functions/_shared/senders/webhook.test.ts'],
    why: 'The rest of a body goes out as the beginning of another request.',
  },
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: `if (this.#head !== null) this.#settleResponse(true)
    else if (this.#connection !== null)`,
    replace: `if (this.#connection !== null)`,
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
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: 'const maySendAgain = connection.wasUsed && this.#isRepeatable',
    replace: 'const maySendAgain = false',
    tests: ['functions/_shared/transport/kept.test.ts'],
    why: 'A receiver that closes a kept connection causes a failed attempt.',
  },
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: 'const maySendAgain = connection.wasUsed && this.#isRepeatable',
    replace: 'const maySendAgain = this.#isRepeatable',
    tests: ['functions/_shared/transport/kept.test.ts'],
    why: 'A receiver that closes over every request gets each of them twice.',
  },
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: 'const maySendAgain = connection.wasUsed && this.#isRepeatable',
    replace: 'const maySendAgain = connection.wasUsed',
    tests: ['functions/_shared/transport/kept.test.ts'],
    why: 'A person gets a WhatsApp message twice.',
  },
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: `    this.#pieces = []
    try {`,
    replace: '    try {',
    tests: ['functions/_shared/transport/kept.test.ts'],
    why: 'A request is sent again although its response had begun.',
  },
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: `    this.needsFresh = true
`,
    replace: '',
    tests: ['functions/_shared/transport/kept.test.ts'],
    why: 'A request is sent again on another connection that the peer may have closed.',
  },
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: 'this.deps.resolve(this.needsFresh ? asResent(exchange) : exchange)',
    replace: 'this.deps.resolve(exchange)',
    tests: ['functions/_shared/transport/kept.test.ts'],
    why: 'Nobody sees that a request was sent twice.',
  },
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: 'this.#settle(this.needsFresh ? exchange : { ...exchange, unsent: true })',
    replace: 'this.#settle({ ...exchange, unsent: true })',
    tests: ['functions/_shared/transport/kept.test.ts'],
    why: 'A request that was sent once counts as one that was never sent.',
  },
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: 'else if (this.deps.origin.isConnecting) {',
    replace: 'else if (false) {',
    tests: ['functions/_shared/http1/pools.test.ts'],
    why: 'A host that cannot be reached is reported as one that does not respond.',
  },
  {
    file: 'functions/_shared/http1/pools.ts',
    find: `const name = \`\${endpoint} \${originOf(url)}\``,
    replace: 'const name = originOf(url)',
    tests: ['functions/_shared/transport/apart.test.ts'],
    why: 'An endpoint gets the response that another one on the same host has forged.',
  },
  {
    file: 'functions/_shared/http1/pools.ts',
    find: 'if (origins.get(name) === origin) origins.delete(name)',
    replace: '',
    tests: ['functions/_shared/http1/pools.test.ts'],
    why: 'Each dead host takes memory for the life of a worker.',
  },
  {
    file: 'functions/_shared/http1/origin.ts',
    find: 'const free = this.#free.at(-1)',
    replace: 'const free = this.#free[0]',
    tests: ['functions/_shared/http1/origin.test.ts'],
    why: 'The connection is used that its peer closes first.',
  },
  {
    file: 'functions/_shared/http1/origin.ts',
    find: '!isSettled && (isFresh || !needsFresh)',
    replace: '!isSettled',
    tests: ['functions/_shared/http1/origin.test.ts'],
    why: 'A request that needs a fresh connection gets a used one.',
  },
  {
    file: 'functions/_shared/http1/origin.ts',
    find: `if (this.#isClosed) return waiting.onRefusal(closedEarly())
`,
    replace: '',
    tests: ['functions/_shared/http1/origin.test.ts'],
    why: 'A transport that has closed opens connections.',
  },
  {
    file: 'functions/_shared/http1/response.ts',
    find: `    this.handler.onHead(head)
    this.#framing = framingOf(head)`,
    replace: `    this.#framing = framingOf(head)
    this.handler.onHead(head)`,
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A response of 410 with a bad length does not disable the endpoint.',
  },
  {
    file: 'functions/_shared/http1/response.ts',
    find: 'if (bytes[at - 1] === cr) continue',
    replace: 'continue',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A head in line feeds alone ends with the timeout.',
  },
  {
    file: 'functions/_shared/http1/framing.ts',
    find: `if (head.minor === 0 && head.fields.has('transfer-encoding')) return false
`,
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A connection of HTTP/1.0 is used again after chunks that its peer may not know.',
  },
  {
    file: 'functions/_shared/http1/head.ts',
    find: 'values.push(trimBlanks(raw))',
    replace: 'values.push(raw.trim())',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A length with a no-break space is taken for a number.',
  },
  {
    file: 'functions/_shared/http1/head.ts',
    find: `    if (foldedLine.test(line) && values !== null && isFit(line)) unfold(values, line)
    else values`,
    replace: '    values',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A folded header line makes a response invalid.',
  },
  {
    file: 'functions/_shared/http1/body.ts',
    find: 'if (size === undefined || !isFit(line))',
    replace: 'if (size === undefined)',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A NUL in an extension of a chunk is accepted.',
  },
  {
    file: 'functions/_shared/http1/body.ts',
    find: `    if (!isFolded && !isField(line)) throw malformed('A trailer line is invalid')
`,
    replace: '',
    tests: ['functions/_shared/http1/response.test.ts'],
    why: 'A trailer that is no field is accepted.',
  },
  {
    file: 'functions/_shared/transport/decode.ts',
    find: 'cut: isBroken || size > limit',
    replace: 'cut: isBroken',
    tests: ['functions/_shared/transport/decode.test.ts'],
    why: 'A compressed body that is longer than what is stored counts as whole.',
  },
  {
    file: 'functions/_shared/connect/tls_problem.ts',
    find: '|certificate not valid yet/',
    replace: '/',
    tests: ['functions/_shared/connect/certificates.test.ts'],
    why: 'A certificate that is not valid yet is reported as one of an unknown issuer.',
  },
  {
    file: 'functions/_shared/senders/http_outcome.ts',
    find: `    ...resent,
`,
    replace: '',
    tests: ['functions/_shared/senders/http_outcome.test.ts'],
    why: 'No receipt says that a request was sent twice.',
  },
  {
    file: 'functions/_shared/senders/broker/connections.ts',
    find: `    forgetFailures()
    const connecting`,
    replace: `    const connecting`,
    tests: ['functions/_shared/senders/broker/connections.test.ts'],
    why: 'Each broker that was never reached takes memory for the life of a worker.',
  },
  {
    file: 'functions/_shared/senders/whatsapp/pacer.ts',
    find: 'if (lines.size > capacity) {',
    replace: 'if (lines.size > capacity * 2) {',
    tests: ['functions/_shared/senders/whatsapp/pacer.test.ts'],
    why: 'Each number takes memory for the life of a worker.',
  },
]
