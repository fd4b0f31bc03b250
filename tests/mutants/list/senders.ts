import type { Mutant } from '../mutant.ts'

export const senders: readonly Mutant[] = [
  {
    file: 'functions/_shared/senders/webhook.ts',
    find: `if (!target.ok) return failed('blocked', target.problem)`,
    replace: `if (!target.ok) return failed('connect', target.problem)`,
    tests: ['functions/_shared/senders/webhook.test.ts'],
    why: 'A forbidden address is retried for hours.',
  },
  {
    file: 'functions/_shared/senders/webhook.ts',
    find: `  if (problem !== null) return failed('protocol', problem)
`,
    replace: '',
    tests: ['functions/_shared/senders/webhook.test.ts'],
    why: 'A reserved header goes out.',
  },
  {
    file: 'functions/_shared/senders/webhook.ts',
    find: 'successBytes: deps.settings.success_bytes',
    replace: 'successBytes: deps.settings.failure_bytes',
    tests: ['functions/_shared/senders/webhook.test.ts'],
    why: 'The setting response.success_bytes has no effect.',
  },
  {
    file: 'functions/_shared/senders/http_outcome.ts',
    find: 'const isRedirect = status >= 300 && status < 400',
    replace: 'const isRedirect = status > 300 && status < 400',
    tests: ['functions/_shared/senders/webhook.test.ts'],
    why: 'A 300 is not told as a redirect.',
  },
  {
    file: 'functions/_shared/senders/http_outcome.ts',
    find: '...(retryAfter === null ? {} : { retry_after: safeString(retryAfter, 64) }),',
    replace: '',
    tests: ['functions/_shared/senders/webhook.test.ts'],
    why: 'Retry-After is not heeded.',
  },
  {
    file: 'functions/_shared/senders/body.ts',
    find: `payload === 'envelope'`,
    replace: `payload === 'data'`,
    tests: ['functions/_shared/senders/body.test.ts'],
    why: `Each endpoint gets the other's form of payload.`,
  },
  {
    file: 'functions/_shared/senders/body.ts',
    find: '"createdAt":"${createdAt(id)}"',
    replace: '"createdAt":"${new Date().toISOString()}"',
    tests: ['functions/_shared/senders/body.test.ts'],
    why: 'The body differs at each try, and with it its signature.',
  },
  {
    file: 'functions/_shared/senders/whatsapp/response.ts',
    find: `if (isSuccess(status)) return success(exchange, json)
`,
    replace: `if (isSuccess(status) && json !== null) return success(exchange, json)
`,
    tests: ['functions/_shared/senders/whatsapp/response.test.ts'],
    why: 'A message that Meta took is sent again because its answer could not be read.',
  },
  {
    file: 'functions/_shared/senders/whatsapp/response.ts',
    find: 'const isLonger = waitS > 0 && !(Number(retryAfter ?? 0) >= waitS)',
    replace: 'const isLonger = waitS > 0',
    tests: ['functions/_shared/senders/whatsapp/response.test.ts'],
    why: 'The shorter of two waits counts.',
  },
  {
    file: 'functions/_shared/senders/whatsapp/response.ts',
    find: 'const words = withoutNumbers(details',
    replace: 'const words = (details',
    tests: ['functions/_shared/senders/whatsapp/response.test.ts'],
    why: `A person's number stands in the log of errors.`,
  },
  {
    file: 'functions/_shared/senders/whatsapp/response.ts',
    find: `if (is_transient !== undefined) provider.is_transient = is_transient
`,
    replace: '',
    tests: ['functions/_shared/senders/whatsapp/response.test.ts'],
    why: 'What Meta calls transient is given up.',
  },
  {
    file: 'functions/_shared/senders/whatsapp/request.ts',
    find: `    biz_opaque_callback_data: callback_data,
`,
    replace: '',
    tests: ['functions/_shared/senders/whatsapp/request.test.ts'],
    why: 'A status that comes before the answer finds no message.',
  },
  {
    file: 'functions/_shared/senders/whatsapp/sender.ts',
    find: '`Bearer ${channel.access_token}`',
    replace: 'channel.access_token',
    tests: ['functions/_shared/senders/whatsapp/sender.test.ts'],
    why: 'No message is sent.',
  },
  {
    file: 'functions/_shared/senders/whatsapp/sender.ts',
    find: 'if (!/^[\\x21-\\x7e]+$/.test(channel.access_token)) {',
    replace: `if (channel.access_token === '') {`,
    tests: ['functions/_shared/senders/whatsapp/sender.test.ts'],
    why: 'A token with a line end is no failure of its own.',
  },
  {
    file: 'functions/_shared/senders/slack/sender.ts',
    find: `if (!target.ok) return failed('blocked', target.problem)`,
    replace: `if (!target.ok) return failed('connect', target.problem)`,
    tests: ['functions/_shared/senders/slack/sender.test.ts'],
    why: 'A forbidden address is retried for hours.',
  },
  {
    file: 'functions/_shared/senders/broker/connections.ts',
    find: 'known !== undefined && known.policy === policy',
    replace: 'known !== undefined',
    tests: ['functions/_shared/senders/broker/connections.test.ts'],
    why: `A broker's connection goes on that the operator's new rules forbid.`,
  },
  {
    file: 'functions/_shared/senders/broker/connections.ts',
    find: ': now() - state.at < coolDownMs',
    replace: ': now() - state.at > coolDownMs',
    tests: ['functions/_shared/senders/broker/connections.test.ts'],
    why: 'A broker that is away is dialled by each delivery.',
  },
  {
    file: 'functions/_shared/senders/broker/connections.ts',
    find: `if (isBroken(outcome)) retire(entry)
`,
    replace: '',
    tests: ['functions/_shared/senders/broker/connections.test.ts'],
    why: 'A broken connection is given out again and again.',
  },
  {
    file: 'functions/_shared/senders/broker/connections.ts',
    find: `if (entry.users === 0 && 'connection' in state) {`,
    replace: `if ('connection' in state) {`,
    tests: ['functions/_shared/senders/broker/connections.test.ts'],
    why: 'A connection is closed under deliveries that use it.',
  },
  {
    file: 'functions/_shared/senders/broker/outcome.ts',
    find: `outcome.error_class !== 'broker' &&
    outcome.error_class !== 'protocol'`,
    replace: `outcome.error_class !== 'broker'`,
    tests: ['functions/_shared/senders/broker/connections.test.ts'],
    why: 'One record that cannot be made costs all others their connection.',
  },
]
