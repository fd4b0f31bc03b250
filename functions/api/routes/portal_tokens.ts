import { createRoute, z } from '../zod_openapi.ts'
import { signPortalToken } from '../auth/portal.ts'
import type { Principal } from '../auth/principal.ts'
import { customerPage, type Scope } from '../auth/scopes.ts'
import { canLimit, type TokenLimits } from '../auth/token_limits.ts'
import type { ApiApp, RouteDeps } from '../context.ts'
import { ApiError } from '../errors.ts'
import { idempotencyKeyHeader } from '../schemas/common.ts'
import {
  newPortalTokenSchema,
  portalTokenParams,
  portalTokenSchema,
  revokedAllSchema,
  revokedTokenPageSchema,
  revokedTokenSchema,
  revokedTokensQuery,
} from '../schemas/portal_tokens.ts'
import { jsonBody, jsonResponse, needs, problems } from './route.ts'

const tags = ['Portal tokens']

const create = createRoute({
  method: 'post',
  path: '/portal-tokens',
  operationId: 'createPortalToken',
  summary: "Create a short-lived token for a customer's browser",
  tags,
  ...needs('portal-tokens:write'),
  request: { headers: idempotencyKeyHeader, body: jsonBody(newPortalTokenSchema) },
  responses: {
    ...problems('not_configured', 'idempotency_conflict'),
    201: jsonResponse(portalTokenSchema, 'A token for one organisation'),
  },
})

const listRevoked = createRoute({
  method: 'get',
  path: '/portal-tokens/revoked',
  operationId: 'listRevokedPortalTokens',
  summary: 'List the revoked tokens that have not expired, newest first',
  tags,
  ...needs('portal-tokens:write'),
  request: { query: revokedTokensQuery },
  responses: { ...problems(), 200: jsonResponse(revokedTokenPageSchema, 'A page of tokens') },
})

const revoke = createRoute({
  method: 'delete',
  path: '/portal-tokens/{tokenId}',
  operationId: 'revokePortalToken',
  summary: 'Revoke a token, within 5 s',
  tags,
  ...needs('portal-tokens:write'),
  request: { params: portalTokenParams },
  responses: { ...problems('wrong_state'), 200: jsonResponse(revokedTokenSchema, 'It is revoked') },
})

const revokeAll = createRoute({
  method: 'delete',
  path: '/portal-tokens',
  operationId: 'revokePortalTokens',
  summary: 'Revoke all tokens of the organisation, within 5 s',
  tags,
  ...needs('portal-tokens:write'),
  request: {},
  responses: { ...problems(), 200: jsonResponse(revokedAllSchema, 'They are revoked') },
})

/** The claims that distinguish a token from another one with the same content. */
const mark = z.object({ id: z.string(), issuedAt: z.int(), generation: z.int() })

/** `/portal-tokens`: create, revoke one or all, list the revoked ones. */
export function addPortalTokenRoutes(
  app: ApiApp,
  { portalSecrets, wallNow }: RouteDeps,
): void {
  app.openapi(create, async (c) => {
    const [secret] = portalSecrets
    if (secret === undefined) {
      throw new ApiError('not_configured', 'OUTHOOK_PORTAL_SECRET is not set', {
        remedy: 'Set it to 32 random bytes: openssl rand -hex 32',
      })
    }
    const { expiresInSeconds, subject, endpointIds = null, eventTypes = null, ...asked } = c.req
      .valid('json')
    const limits = endpointIds === null && eventTypes === null ? null : { endpointIds, eventTypes }
    const principal = c.get('principal')
    const scopes = scopesOf(principal, asked.scopes, limits)
    const key = c.req.valid('header')['idempotency-key']
    const { id, issuedAt, generation } = await c.get('database').call('record_portal_token', {
      p_org_id: principal.orgId,
      ...key === undefined ? {} : { p_key: key },
      p_token: {
        ...{ id: crypto.randomUUID(), issuedAt: Math.floor(wallNow() / 1000) },
        ...{ scopes: [...scopes], endpointIds, eventTypes, expiresInSeconds, subject },
      },
    }, mark)
    const token = await signPortalToken({
      ...{ orgId: principal.orgId, scopes, limits, subject },
      ...{ id, generation, issuedAt, lifeSeconds: expiresInSeconds },
    }, secret)
    const expiresAt = new Date((issuedAt + expiresInSeconds) * 1000).toISOString()
    return c.json(
      {
        id,
        token,
        orgId: principal.orgId,
        scopes: [...scopes],
        endpointIds,
        eventTypes,
        expiresAt,
      },
      201,
    )
  })

  app.openapi(listRevoked, async (c) => {
    const { cursor, limit } = c.req.valid('query')
    const page = await c.get('database').call('list_revoked_portal_tokens', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
    }, revokedTokenPageSchema)
    return c.json(page, 200)
  })

  app.openapi(revoke, async (c) => {
    const revoked = await c.get('database').call('revoke_portal_token', {
      p_org_id: c.get('principal').orgId,
      p_id: c.req.valid('param').tokenId,
    }, revokedTokenSchema)
    return c.json(revoked, 200)
  })

  app.openapi(revokeAll, async (c) => {
    const revoked = await c.get('database').call('revoke_portal_tokens', {
      p_org_id: c.get('principal').orgId,
    }, revokedAllSchema)
    return c.json(revoked, 200)
  })
}

/** The scopes of a new token: at most those of its creator, and only ones that its limits can bound. */
function scopesOf(
  { scopes: own }: Principal,
  asked: readonly Scope[] | undefined,
  limits: TokenLimits | null,
): readonly Scope[] {
  const isBounded = (scope: Scope): boolean => limits === null || canLimit(scope, limits)
  const scopes = asked ?? customerPage.filter((scope) => own.has(scope) && isBounded(scope))
  const beyond = scopes.find((scope) => !own.has(scope))
  if (beyond !== undefined) {
    throw new ApiError('forbidden', `You do not have the scope ${beyond} yourself`, {
      field: 'scopes',
      remedy: 'Name only scopes of your own token, or call with a secret key',
    })
  }
  const unbounded = scopes.find((scope) => !isBounded(scope))
  if (unbounded !== undefined) {
    throw new ApiError('invalid_argument', `scopes: ${unbounded} cannot be limited`, {
      field: 'scopes',
      remedy: limits !== null && limits.endpointIds !== null && unbounded === 'events:read'
        ? 'Limit the token by eventTypes, or leave events:read out'
        : `Leave ${unbounded} out, or create a token without endpointIds and eventTypes`,
    })
  }
  return [...new Set(scopes)].sort()
}
