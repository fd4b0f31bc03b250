import type { Mutant } from '../mutant.ts'

export const databaseFaults: readonly Mutant[] = [
  {
    file: 'functions/_shared/database/fault.ts',
    find: `{ codes: /^25006$/, kind: 'temporary'`,
    replace: `{ codes: /^25006$/, kind: 'partial'`,
    tests: ['functions/_shared/database/fault.test.ts#kindOfCode'],
    why: 'While the database is read-only, results are divided, and given up.',
  },
  {
    file: 'functions/_shared/database/fault.ts',
    find: `{ codes: /^[0-9A-Z]{5}$/, kind: 'partial'`,
    replace: `{ codes: /^[0-9A-Z]{5}$/, kind: 'temporary'`,
    tests: ['functions/_shared/database/fault.test.ts#kindOfCode'],
    why: 'One result that the database refuses keeps its run repeating one call.',
  },
  {
    file: 'functions/_shared/database/fault.ts',
    find: `if (status === 401 || status === 403 || status === 404) return 'permanent'`,
    replace: `if (status === 401 || status === 403) return 'permanent'`,
    tests: ['functions/_shared/database/fault.test.ts#kindOfResponse'],
    why: 'Results are divided and given up where the gateway has another address.',
  },
  {
    file: 'functions/deliver/redispatch.ts',
    find: `if (/^(57014|40|55)/.test(fault.code)) stalls++`,
    replace: '',
    tests: ['functions/deliver/redispatch.test.ts'],
    why: 'A result that takes all the time of a statement is reported for ever.',
  },
  {
    file: 'functions/deliver/redispatch.ts',
    find: " || (code === '57014' && results.length > 1)",
    replace: '',
    tests: ['functions/deliver/redispatch.test.ts'],
    why: 'A call with too much in it is repeated as it is.',
  },
  {
    file: 'functions/deliver/redispatch.ts',
    find: "(code === '57014' && results.length > 1)",
    replace: "(code === '57014')",
    tests: ['functions/deliver/redispatch.test.ts'],
    why: 'One slow moment of the database costs a result.',
  },
  {
    file: 'functions/deliver/redispatch.ts',
    find: `  if (results.length === 0) return false
`,
    replace: '',
    tests: ['functions/deliver/redispatch.test.ts', 'functions/deliver/run_lost.test.ts'],
    why: 'A call without results is divided into nothing, again and again, without a pause.',
  },
  {
    file: 'functions/deliver/redispatch.ts',
    find: '(isSlow && !retriesPermanent)',
    replace: 'isSlow',
    tests: ['functions/deliver/redispatch.test.ts'],
    why: 'A worker ends while a right is missing for a moment.',
  },
  {
    file: 'functions/deliver/redispatch.ts',
    find: 'const isSlow = fault.kind !==',
    replace: 'const isSlow = fault.kind ===',
    tests: ['functions/deliver/redispatch.test.ts'],
    why: 'A database that is away for a second is asked a minute later.',
  },
  {
    file: 'functions/deliver/redispatch.ts',
    find: 'if (stop.aborted) return await sleep(clock, Math.min(ms, longestPauseMs))',
    replace: '',
    tests: ['functions/deliver/redispatch.test.ts'],
    why: 'Once it is told to stop a run asks without a pause.',
  },
  {
    file: 'functions/deliver/redispatch.ts',
    find: '[firstSlowPauseMs, longestSlowPauseMs]',
    replace: '[firstSlowPauseMs, longestPauseMs]',
    tests: ['functions/deliver/redispatch.test.ts'],
    why: 'A database that refuses its workers is asked every two seconds by each.',
  },
  {
    file: 'functions/deliver/fault_log.ts',
    find: `    if (logged === code) return
`,
    replace: '',
    tests: ['functions/deliver/redispatch.test.ts'],
    why: 'Each repeat writes a line.',
  },
  {
    file: 'functions/deliver/fault_log.ts',
    find: `    logged = null
    log`,
    replace: '    log',
    tests: ['functions/deliver/redispatch.test.ts'],
    why: 'The same trouble is not said the next time.',
  },
  {
    file: 'functions/deliver/fault_log.ts',
    find: `kind === 'temporary' ? 'warn' : 'error'`,
    replace: `'warn'`,
    tests: ['functions/deliver/redispatch.test.ts'],
    why: 'Who looks for errors does not see that a right is missing.',
  },
  {
    file: 'functions/deliver/divide.ts',
    find: 'results.slice(half)]',
    replace: 'results.slice(half + 1)]',
    tests: ['functions/deliver/divide.test.ts'],
    why: 'A result is lost when its call is divided.',
  },
  {
    file: 'functions/deliver/divide.ts',
    find: `one.outcome !== 'renew'`,
    replace: 'true',
    tests: ['functions/deliver/divide.test.ts'],
    why: 'A lease is renewed for a lane that has been told that it gets none.',
  },
  {
    file: 'functions/deliver/divide.ts',
    find: 'if (JSON.stringify(bare) !== JSON.stringify(first)) return [[bare]]',
    replace: '',
    tests: ['functions/deliver/divide.test.ts'],
    why: 'A text that the database cannot hold costs the whole result.',
  },
  {
    file: 'functions/deliver/divide.ts',
    find: '    ...(status === undefined ? {} : { status }),\n',
    replace: '',
    tests: ['functions/deliver/divide.test.ts'],
    why: 'A failure whose text was refused is retried as if its status were not known.',
  },
  {
    file: 'functions/deliver/divide.ts',
    find: `  log('error', 'result not taken',`,
    replace: `  log('info', 'result not taken',`,
    tests: ['functions/deliver/divide.test.ts'],
    why: 'Who looks for errors does not see that a result is lost.',
  },
  {
    file: 'functions/deliver/turn.ts',
    find: 'const limit = part === undefined ? share.limit : 0',
    replace: 'const limit = share.limit',
    tests: ['functions/deliver/run_lost.test.ts'],
    why: 'Each part of a refused call claims more.',
  },
  {
    file: 'functions/deliver/turn.ts',
    find: `  if ('refused' in received) {
    renewals.settle(null, 0)
`,
    replace: `  if ('refused' in received) {
`,
    tests: ['functions/deliver/run_lease.test.ts'],
    why: 'A lane that waits for a lease waits for ever when its call is divided.',
  },
  {
    file: 'functions/_shared/database/direct.ts',
    find: `      if (isConnectionLost(cause)) renew(session)
`,
    replace: '',
    tests: ['functions/_shared/database/direct.test.ts'],
    why: 'A session without responses is used for the next call too.',
  },
  {
    file: 'functions/_shared/database/direct.ts',
    find: '    prepare: false,',
    replace: '    prepare: true,',
    tests: ['functions/_shared/database/direct.test.ts'],
    why: 'Behind a transaction pooler a call may wait for a response that never comes.',
  },
]
