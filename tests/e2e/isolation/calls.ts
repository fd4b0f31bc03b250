/**
 * One call of each operation of the API. A word in braces names an object that both organisations have
 * (tests/sql/organisations/_tenants.sql). The walk replaces each by the object of the other organisation.
 */

export type Call = {
  /** Words for the parameters of the path, where they are not those of `pathWords`. */
  path?: Record<string, string>
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: unknown
  /** The expected status with the caller's own objects. */
  own: number
  /** The expected status with another organisation's objects, for all words or for each; default 404. */
  foreign?: number | Record<string, number>
  /** The same for the secret key, if it may do more than a token. */
  key?: number
}

/** What stands in a path, by the name of the parameter. */
export const pathWords: Record<string, string> = {
  endpointId: '{endpoint}',
  secretId: '{secret}',
  deadLetterId: '{letter}',
  replayJobId: '{job}',
  eventId: '{e.letter}',
  deliveryId: '{e.letter}.{endpoint}',
  type: '{type}',
  messageId: '{message}',
  dossierId: '{dossier}',
  templateCode: '{template}',
  channelId: '{channel}',
  recipient: '{person}',
  appId: '{app}',
  name: 'checkout',
  executionId: '{execution}',
}

/** Members of queries, headers and bodies that name no object of an organisation. */
export const plain = new Set([
  // A portal token's limits: api_portal.test.ts.
  ...['endpointIds'],
  // The walk sends it with every call.
  ...['x-org-id', 'x-outhook-actor'],
  ...[
    'limit',
    'from',
    'to',
    'dueFrom',
    'dueTo',
    'until',
    'hours',
    'minutes',
    'waitSeconds',
    'if-match',
    'purpose',
    'source',
  ],
  ...['reason', 'description', 'expiresInSeconds', 'scopes', 'subject', 'overlapSeconds', 'secret'],
  ...['baseDelay', 'delays', 'factor', 'jitter', 'maxDelay', 'maxRetries', 'strategy', 'strict'],
  ...[
    'failedFrom',
    'failedTo',
    'ratePerSecond',
    'includeDelivered',
    'schema',
    'channel',
    'purposes',
    'granted',
  ],
  ...['evidence', 'category', 'language', 'parameterFormat', 'accessToken', 'messagesPerSecond'],
  ...[
    'pairSeconds',
    'wabaId',
    'graphVersion',
    'isDefault',
    'allowUnsigned',
    'deliverAt',
    'payload',
  ],
  ...['correlationId', 'partitionKey', 'traceparent', 'payloadJson', 'status', 'url'],
  ...['eventTypes', 'filter', 'headers', 'kind', 'maxInFlight', 'onDeadLetter', 'ordering'],
  ...[
    'quantum',
    'rateBurst',
    'entityType',
    'action',
    'actor',
    'name',
    'retry',
    'retry4xx',
    'timeoutMs',
    'breaker',
    'broker',
    'config',
    'credentials',
  ],
])

const template = { name: 'theirs', language: 'fr', category: 'UTILITY' }
const message = {
  channel: 'WHATSAPP',
  to: '+12025550151',
  templateCode: 'reminder',
  payloadJson: { parameters: ['Anna'] },
}
const retry = { strategy: 'fixed', baseDelay: 5, maxRetries: 3 }

/** The calls by operation. A call that ends an object stands after the calls that need the object. */
export const calls: Record<string, Call[]> = {
  // What is read.
  getEndpoint: [{ own: 200 }],
  getEndpointStats: [{ own: 200 }],
  getRetryConfig: [{ own: 200 }],
  getEndpointSecret: [{ own: 200 }],
  getDeadLetter: [{ own: 200 }],
  getReplayJob: [{ own: 200 }],
  getEvent: [{ own: 200 }],
  getEventType: [{ own: 200 }],
  getCatalogue: [{ own: 200 }],
  getHealth: [{ own: 200 }],
  getOverview: [{ own: 200 }],
  getSession: [{ own: 200 }],
  getDelivery: [
    { own: 200 },
    { own: 200, path: { deliveryId: '{e.delivered}.{endpoint}' } },
    { own: 200, path: { deliveryId: '{e.pending}.{open}' } },
  ],
  listAttempts: [{ own: 200, path: { deliveryId: '{e.redelivered}.{endpoint}' } }, {
    own: 200,
    path: { deliveryId: '{own e.redelivered}.{own endpoint}' },
    query: { cursor: '{c.attempts}' },
    foreign: 200,
  }],
  getMessage: [{ own: 200 }],
  countMessages: [{ own: 200 }],
  getChannel: [{ own: 200 }],
  // Nobody at Meta responds here: each result is unknown.
  checkChannel: [{ own: 200 }],
  // Several organisations may share an app: no token reads or changes one.
  getWhatsappApp: [{ own: 403, foreign: 403 }],
  listEndpoints: [
    { own: 200 },
    { own: 200, query: { cursor: '{c.endpoints}' }, foreign: 200 },
    { own: 200, query: { search: '{endpoint}' }, foreign: 200 },
    { own: 200, query: { health: 'held' } },
  ],
  listEvents: [
    { own: 200 },
    { own: 200, query: { cursor: '{c.events}', type: '{type}' }, foreign: 200 },
  ],
  listEventTypes: [{ own: 200 }, { own: 200, query: { cursor: '{c.types}' }, foreign: 200 }],
  groupDeadLetters: [{ own: 200 }, { own: 200, query: { endpointId: '{endpoint}' }, foreign: 200 }],
  listEventTypeChanges: [
    { own: 200 },
    { own: 200, query: { cursor: '{c.changes}', type: '{type}' }, foreign: 200 },
  ],
  listDeliveries: [{ own: 200 }, {
    own: 200,
    query: { cursor: '{c.deliveries}', endpointId: '{endpoint}', eventType: '{type}' },
    foreign: 200,
  }, { own: 200, query: { endpointId: '{open}' }, foreign: 200 }],
  listAllAttempts: [
    { own: 200 },
    { own: 200, query: { endpointId: '{endpoint}', cursor: '{c.org_attempts}' }, foreign: 200 },
  ],
  listDeadLetters: [{ own: 200 }, { own: 200, query: { error: '{word}' }, foreign: 200 }, {
    own: 200,
    query: { cursor: '{c.letters}', endpointId: '{endpoint}', eventType: '{type}' },
    foreign: 200,
  }, { own: 200, query: { endpointId: '{endpoint}' }, foreign: 200 }],
  listReplayJobs: [{ own: 200 }, { own: 200, query: { cursor: '{c.jobs}' }, foreign: 200 }],
  listMessages: [{ own: 200 }, {
    own: 200,
    query: { cursor: '{c.messages}', dossierId: '{dossier}' },
    foreign: 200,
  }, {
    own: 200,
    query: { to: '{person}', idempotencyKey: 'key-message-{word}' },
    foreign: 200,
  }, { own: 200, query: { correlationId: 'cart-message-{word}' }, foreign: 200 }],
  listConsents: [{ own: 200, foreign: 200 }],
  listAllActivity: [{ own: 200 }, { own: 200, query: { cursor: '{c.activity}' }, foreign: 200 }],
  listInboundMessages: [{ own: 200 }, {
    own: 200,
    query: { cursor: '{c.inbound}', from: '{person}', channelId: '{channel}' },
    foreign: 200,
  }],
  listSagas: [{ own: 200 }],
  getSaga: [{ own: 200 }],
  getSagaExecution: [{ own: 200 }],
  listSettings: [{ own: 200 }],
  // It has no organisation, so only the operator sees it.
  listRuns: [{ own: 403, foreign: 403 }],
  listConsumers: [{ own: 403, query: { eventId: '{e.letter}' }, foreign: 403 }],
  tryFilter: [{ own: 200, body: { filter: 'exists($.x)', eventTypes: ['*'], limit: 10 } }],
  search: [
    { own: 200, query: { correlationId: '{e.letter}' }, foreign: 200 },
    { own: 200, query: { idempotencyKey: 'key-message-{word}' }, foreign: 200 },
    { own: 200, query: { correlationId: 'cart-message-{word}' }, foreign: 200 },
  ],
  listActivity: [{ own: 200, query: { cursor: '{c.activity}' }, foreign: 200 }],
  listAuditEvents: [
    { own: 200 },
    { own: 200, query: { cursor: '{c.audit}' }, foreign: 200 },
    { own: 200, query: { entityType: 'ENDPOINT', entityId: '{endpoint}' }, foreign: 200 },
    { own: 200, query: { entityType: 'REPLAY_JOB', entityId: '{job}' }, foreign: 200 },
    { own: 200, query: { actor: 'key:default' } },
    {
      own: 200,
      query: { entityType: 'OUTBOUND_MESSAGE', entityId: '{message}' },
      foreign: 200,
    },
    { own: 200, query: { entityType: 'CHANNEL', entityId: '{channel}' }, foreign: 200 },
    {
      own: 200,
      query: { correlationId: 'cart-message-{word}' },
      foreign: 200,
    },
  ],
  listOptOuts: [{ own: 200 }, {
    own: 200,
    query: { cursor: '{c.opt_outs}', recipient: '{person}' },
    foreign: 200,
  }],
  listTemplates: [{ own: 200 }],
  listChannels: [{ own: 200 }],
  previewRetryConfig: [{ own: 200, body: retry }],
  // What is made. A key is each organisation's own, as a name is.
  createEndpoint: [{
    own: 201,
    foreign: 201,
    headers: { 'idempotency-key': 'http-{word}' },
    body: { url: 'https://example.com/{word}' },
  }],
  createPortalToken: [{
    own: 201,
    foreign: 201,
    headers: { 'idempotency-key': 'http-token-{word}' },
    body: {},
  }],
  listRevokedPortalTokens: [{ own: 200 }, {
    own: 200,
    query: { cursor: '{c.revoked}' },
    foreign: 200,
  }],
  revokePortalToken: [{ own: 200, path: { tokenId: '00000000-0000-4000-8000-000000000001' } }],
  revokePortalTokens: [{ own: 200 }],
  createEventType: [{
    own: 201,
    foreign: 201,
    headers: { 'idempotency-key': 'http-type-{word}' },
    body: { type: 'made.{word}' },
  }],
  createBackfill: [{ own: 201, body: { includeDelivered: true } }, {
    own: 201,
    foreign: 201,
    path: { endpointId: '{own endpoint}' },
    headers: { 'idempotency-key': 'http-backfill-{word}' },
    body: {},
  }],
  previewBackfill: [{ own: 200, body: {} }, { own: 200, body: { includeDelivered: true } }],
  createReplayJob: [
    { own: 201, body: { endpointId: '{ended}', eventType: '{type}' }, foreign: { type: 201 } },
    { own: 201, body: { endpointId: '{ended}', error: 'of {word}' }, foreign: { word: 201 } },
    {
      own: 201,
      foreign: 201,
      headers: { 'idempotency-key': 'http-job-{word}' },
      body: { eventType: 'no.such' },
    },
  ],
  previewReplayJob: [
    { own: 200, body: { endpointId: '{ended}', eventType: '{type}' }, foreign: { type: 200 } },
    { own: 200, body: { endpointId: '{ended}', error: 'of {word}' }, foreign: { word: 200 } },
  ],
  publishEvent: [{
    own: 202,
    body: { type: '{type}', payload: {}, endpointId: '{endpoint}' },
    foreign: { type: 202 },
  }, {
    own: 202,
    foreign: 202,
    headers: { 'idempotency-key': 'http-event-{word}' },
    body: { type: 'both.type', payload: {} },
  }],
  publishEvents: [{
    own: 202,
    body: { events: [{ type: '{type}', payload: {}, endpointId: '{endpoint}' }] },
    foreign: { type: 202 },
  }, {
    own: 202,
    foreign: 202,
    headers: { 'idempotency-key': 'http-batch-{word}' },
    body: { events: [{ type: 'both.type', payload: {}, idempotencyKey: 'http-one-{word}' }] },
  }],
  createMessage: [
    { own: 201, body: { ...message, channelId: '{channel}' } },
    { own: 201, body: { ...message, templateCode: '{template}' }, foreign: 400 },
    { own: 201, body: { ...message, to: '{person}' }, foreign: 201 },
    // Another's dossier is one without consent here.
    { own: 201, body: { ...message, dossierId: '{dossier}' }, foreign: 403 },
    { own: 201, foreign: 201, headers: { 'idempotency-key': 'http-m-{word}' }, body: message },
  ],
  // The operator alone makes one, with an app that several may share, and a number that is nobody's yet.
  createChannel: [
    {
      own: 403,
      foreign: 403,
      key: 400,
      body: { phoneNumberId: '{number}', wabaId: '1', appId: '{own app}', accessToken: 'x' },
    },
    {
      own: 403,
      foreign: 403,
      key: 201,
      body: { phoneNumberId: '100000000000009', wabaId: '1', appId: '{app}', accessToken: 'x' },
    },
  ],
  executeSaga: [{
    own: 200,
    foreign: 200,
    headers: { 'idempotency-key': 'http-saga-{word}' },
    body: {},
  }],
  putEventType: [{ own: 200, foreign: 200, body: { description: 'theirs' } }],
  putCatalogue: [{ own: 200, body: { strict: false } }],
  putTemplate: [{ own: 200, foreign: 200, body: template }],
  recordConsent: [{
    own: 201,
    foreign: 201,
    body: { channel: 'WHATSAPP', purposes: ['UTILITY'], granted: true, source: 'theirs' },
  }],
  putOptOut: [{ own: 200, foreign: 200, body: { purpose: 'MARKETING', source: 'theirs' } }],
  getPerson: [{ own: 200, foreign: 404 }],
  partPerson: [{ own: 409, body: { recipients: ['{person}'] }, foreign: 404 }],
  deleteOptOut: [{ own: 200, foreign: 200, query: { purpose: 'MARKETING' } }],
  putWhatsappApp: [{ own: 403, foreign: 403, body: { secret: 'theirs' } }],
  // What is changed.
  updateEndpoint: [{ own: 200, body: { description: 'theirs' } }],
  setRetryConfig: [{ own: 200, body: retry }],
  resetRetryConfig: [{ own: 200 }],
  rotateEndpointSecret: [{ own: 200, path: { endpointId: '{ended}' }, body: {} }, {
    own: 200,
    foreign: 200,
    path: { endpointId: '{own ended}' },
    headers: { 'idempotency-key': 'http-rotate-{word}' },
    body: {},
  }],
  expireEndpointSecret: [{ own: 200 }],
  testEndpoint: [{ own: 200, query: { waitSeconds: '0' } }],
  pauseEndpoint: [{ own: 200, body: {} }],
  resumeEndpoint: [{ own: 200, path: { endpointId: '{parked}' } }],
  updateChannel: [{ own: 200, body: { accessToken: 'theirs', isDefault: true } }],
  setChannelToken: [{ own: 200, body: { accessToken: 'theirs' } }],
  setDefaultChannel: [{ own: 200 }],
  resumeChannel: [{ own: 200 }],
  retryDelivery: [{ own: 200, path: { deliveryId: '{e.retrying}.{open}' } }],
  cancelDelivery: [{ own: 200, path: { deliveryId: '{e.pending}.{open}' } }],
  replayDelivery: [{ own: 200, path: { deliveryId: '{e.dead}.{ended}' } }],
  replayDeadLetter: [{ own: 200 }],
  discardDeadLetter: [{ own: 200, body: { reason: 'theirs' } }],
  pauseReplayJob: [{ own: 200 }],
  resumeReplayJob: [{ own: 200 }],
  cancelReplayJob: [{ own: 200 }],
  cancelMessage: [{ own: 200 }],
  resendMessage: [{ own: 200, path: { messageId: '{m.failed}' } }],
  // What is deleted.
  deleteEventType: [{ own: 200 }],
  deleteTemplate: [{ own: 200 }],
  deleteEndpoint: [{ own: 200 }],
  deleteChannel: [{ own: 200 }],
}
