import type { Mutant } from '../mutant.ts'

export const authentication: readonly Mutant[] = [
  {
    file: 'functions/api/auth/authenticate.ts',
    find: `if (check.claims.role !== 'authenticated') throw invalidToken()
`,
    replace: '',
    tests: ['functions/api/authenticate.test.ts'],
    why: `An anonymous token is taken for a person's.`,
  },
  {
    file: 'functions/api/auth/authenticate.ts',
    find: 'asRecord(check.claims.app_metadata)',
    replace: 'asRecord(check.claims.app_metadata ?? check.claims.user_metadata)',
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A person writes their own organisation and role.',
  },
  {
    file: 'functions/api/auth/authenticate.ts',
    find: `outhook_scopes: names = []`,
    replace: `outhook_scopes: names = ['customer-page']`,
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A user without scopes reads payloads.',
  },
  {
    file: 'functions/api/auth/authenticate.ts',
    find: `if (read.scopes === null) {`,
    replace: 'if (false) {',
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A scope that does not exist is not reported.',
  },
  {
    file: 'functions/api/auth/authenticate.ts',
    find: `if (own.includes(asked)) return asked
`,
    replace: `return asked
`,
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A token reads any organisation that it names.',
  },
  {
    file: 'functions/api/auth/authenticate.ts',
    find: '&& value !== systemOrg',
    replace: '',
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A token of the organisation outhook reads what the system publishes.',
  },
  {
    file: 'functions/api/auth/authenticate.ts',
    find: 'if (isOrgId(one) || new Set(own).size === 1) return first',
    replace: 'return first',
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A token of several organisations acts in the first.',
  },
  {
    file: 'functions/api/auth/authenticate.ts',
    find: 'if (apikey !== null && keyName === null && publishableKey(apikey) === null) {',
    replace: 'if (false) {',
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A wrong key is passed over.',
  },
  {
    file: 'functions/api/auth/authenticate.ts',
    find: `if (bearer === null || bearer === apikey) {
      if (keyName`,
    replace: `if (bearer === null || keyName !== null) {
      if (keyName`,
    tests: ['functions/api/authenticate.test.ts'],
    why: 'An invalid token beside a secret key is passed over.',
  },
  {
    file: 'functions/api/auth/tokens.ts',
    find: `      issuer: issuers,
`,
    replace: '',
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A token of another project is taken.',
  },
  {
    file: 'functions/api/auth/tokens.ts',
    find: `    const rules = {
      issuer: issuers,
      audience,`,
    replace: `    const rules = {
      issuer: issuers,`,
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A token for another audience is taken.',
  },
  {
    file: 'functions/api/auth/tokens.ts',
    find: `const algorithms = ['ES256', 'RS256']`,
    replace: `const algorithms = ['ES256', 'RS256', 'HS256']`,
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A token is signed with a public key as its secret.',
    equivalent:
      'The branch is taken for other algorithms than HS256 alone, and its keys are EC and RSA keys, which jose does not use for HS256.',
  },
  {
    file: 'functions/api/auth/tokens.ts',
    find: `requiredClaims: ['exp', 'sub', 'role']`,
    replace: `requiredClaims: ['sub', 'role']`,
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A token without an end is taken for ever.',
  },
  {
    file: 'functions/api/auth/tokens.ts',
    find: `kty === 'EC' || kty === 'RSA'`,
    replace: 'true',
    tests: ['functions/api/authenticate.test.ts'],
    why: 'The legacy secret is looked up among the public keys.',
  },
  {
    file: 'functions/api/auth/portal.ts',
    find: `requiredClaims: ['exp', 'sub', 'jti', 'org_id', 'scopes', 'generation']`,
    replace: `requiredClaims: ['sub', 'jti', 'org_id', 'scopes', 'generation']`,
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A portal token without an end is taken for ever.',
  },
  {
    file: 'functions/api/auth/portal.ts',
    find: `        issuer: portalIssuer,
        audience,
        clockTolerance`,
    replace: `        issuer: portalIssuer,
        clockTolerance`,
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A token for another service of the same secret is taken.',
  },
  {
    file: 'functions/api/auth/portal.ts',
    find: 'for (const secret of secrets) {',
    replace: 'for (const secret of secrets.slice(0, 1)) {',
    tests: ['functions/api/authenticate.test.ts'],
    why: 'During a rotation portal tokens of the old secret are refused.',
  },
  {
    file: 'functions/api/middleware/access.ts',
    find: 'if (!scopes.has(needed)) {',
    replace: 'if (scopes.size === 0) {',
    tests: ['e2e/api_portal.test.ts'],
    why: 'A token with any scope calls every route.',
  },
  {
    file: 'functions/api/auth/portal.ts',
    find: 'generation < revocations.generation ||',
    replace: '',
    tests: ['functions/api/rate_limit.test.ts'],
    why: 'Tokens stay valid after all were revoked.',
  },
  {
    file: 'functions/api/auth/portal.ts',
    find: '|| revocations.revoked.includes(id)',
    replace: '',
    tests: ['functions/api/rate_limit.test.ts'],
    why: 'A revoked token stays valid.',
  },
  {
    file: 'functions/api/auth/token_limits.ts',
    find: 'pattern.startsWith(limit.slice(0, -1))',
    replace: 'pattern.startsWith(limit.slice(0, -2))',
    tests: ['e2e/api_portal.test.ts'],
    why: 'The limit a.* includes ab.c.',
  },
  {
    file: 'functions/api/middleware/token_rules.ts',
    find: 'if (changes && facts?.kind !== undefined && !openKinds.includes(facts.kind)) {',
    replace: 'if (false) {',
    tests: ['e2e/api_token_rules.test.ts#an endpoint of an operator'],
    why: 'A token changes an endpoint that the operator owns.',
  },
  {
    file: 'functions/api/middleware/token_rules.ts',
    find: 'if (id === undefined && !isCreated) return refuseFilter(c)',
    replace: '',
    tests: ['e2e/api_portal.test.ts'],
    why: 'A limited token searches the URLs of other endpoints.',
  },
  {
    file: 'functions/api/routes/portal_tokens.ts',
    find: 'const beyond = scopes.find((scope) => !own.has(scope))',
    replace: 'const beyond = scopes.find(() => false)',
    tests: ['e2e/api_portal.test.ts'],
    why: 'A user creates a token with scopes that the user does not have.',
  },
  {
    file: 'sql/sagas/saga_routes.sql',
    find: 'and not s.by_tokens',
    replace: 'and false',
    tests: ['e2e/api_sagas.test.ts'],
    why: 'A token executes a saga that is not for tokens.',
  },
  {
    file: 'functions/api/auth/keys.ts',
    find: `.filter(({ key }) => key !== '')
`,
    replace: `
`,
    tests: ['functions/api/keys.test.ts'],
    why: 'An empty key in the configuration lets in whoever sends none.',
  },
  {
    file: 'functions/api/auth/scopes.ts',
    find: `export const customerPage: readonly Scope[] = [
`,
    replace: `export const customerPage: readonly Scope[] = [
  'messages:send',
`,
    tests: ['functions/api/authenticate.test.ts#customer-page'],
    why: 'A user with the set customer-page sends messages.',
  },
  {
    file: 'functions/api/auth/scopes.ts',
    find: `  'deliveries:replay',
]`,
    replace: `  'deliveries:replay',
  'consents:write',
]`,
    tests: ['e2e/api_portal.test.ts#the scopes of a customer page'],
    why: 'Each portal token lifts the opt-outs of people.',
  },
  {
    file: 'functions/api/middleware/token_rules.ts',
    find: `const changes = c.req.method !== 'GET' || rest[0] === 'secret'`,
    replace: `const changes = c.req.method === 'PATCH' || rest[0] === 'secret'`,
    tests: ['e2e/api_token_rules.test.ts#an endpoint of an operator'],
    why: 'A token pauses and deletes the endpoint of a broker.',
  },
  {
    file: 'functions/api/middleware/object_facts.ts',
    find:
      `return ofDelivery(await database.call('get_dead_letter', { p_org_id, p_id }, deliveryFacts))`,
    replace: `const facts = ofDelivery(
        await database.call('get_dead_letter', { p_org_id, p_id }, deliveryFacts),
      )
      return { ...facts, types: [] }`,
    tests: ['e2e/api_token_rules.test.ts#limited to other event types'],
    why: 'A token that is limited to event types reads and replays the dead letters of all others.',
  },
  {
    file: 'functions/api/middleware/token_rules.ts',
    find: `if (limits !== null && room !== 'retry-config') throw outsideLimits(`,
    replace:
      `if (limits !== null && !['attempts', 'retry-config'].includes(room)) throw outsideLimits(`,
    tests: ['e2e/api_token_rules.test.ts#limited to another endpoint'],
    why: 'A token that is limited to one endpoint lists the attempts of all.',
  },
]
