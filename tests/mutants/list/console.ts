import type { Mutant } from '../mutant.ts'

const tests = ['console/server.test.ts']

export const consolePage: readonly Mutant[] = [
  {
    file: 'console/server/guard.ts',
    find: 'if (!hosts.includes(host)) {',
    replace: 'if (host === "") {',
    tests,
    why: 'A page of any site reaches the console by DNS rebinding.',
  },
  {
    file: 'console/server/guard.ts',
    find: 'origin === null ? !isRead : origin !== `http://${host}`',
    replace: 'origin === null ? !isRead : false',
    tests,
    why: 'A page of another origin sends requests with the cookie.',
  },
  {
    file: 'console/server/sessions.ts',
    find: `      link = null
`,
    replace: '',
    tests,
    why: 'A link opens the console more than once.',
  },
  {
    file: 'console/server/handler.ts',
    find: '    if (!hasSession(request, options)) return noSession()\n',
    replace: '',
    tests,
    why: 'Anybody on the machine calls the API with the secret key.',
  },
  {
    file: 'console/server/proxy.ts',
    find: 'return !decodeURIComponent(pathname)',
    replace: 'return !pathname',
    tests,
    why: 'An encoded path leaves the API with the secret key.',
  },
  {
    file: 'console/server/browser.ts',
    find: "{ mode: 0o600, flag: 'wx' }",
    replace: "{ flag: 'wx' }",
    tests,
    why: 'Another user of the machine reads the token of the link.',
  },
  {
    file: 'console/server/proxy.ts',
    find: `redirect: 'error',`,
    replace: `redirect: 'follow',`,
    tests,
    why: 'A redirect takes the secret key to another address.',
  },
]
