import { createRoute, z } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import {
  activityPageSchema,
  consentsSchema,
  dossierParams,
  newConsentSchema,
} from '../schemas/dossiers.ts'
import { pageQuery } from '../schemas/common.ts'
import { jsonBody, jsonResponse, needs, problems } from './route.ts'

const tags = ['Dossiers']

const listConsents = createRoute({
  method: 'get',
  path: '/dossiers/{dossierId}/consents',
  operationId: 'listConsents',
  summary: 'List the consents of a dossier',
  tags,
  ...needs('consents:read'),
  request: { params: dossierParams },
  responses: { ...problems(), 200: jsonResponse(consentsSchema, 'All entries, newest first') },
})

const recordConsent = createRoute({
  method: 'post',
  path: '/dossiers/{dossierId}/consents',
  operationId: 'recordConsent',
  summary: 'Record that consent was granted or withdrawn',
  tags,
  ...needs('consents:write'),
  request: { params: dossierParams, body: jsonBody(newConsentSchema) },
  responses: { ...problems(), 201: jsonResponse(consentsSchema, 'All entries, newest first') },
})

const listActivity = createRoute({
  method: 'get',
  path: '/dossiers/{dossierId}/activity',
  operationId: 'listActivity',
  summary: 'List the activity of a dossier, newest first',
  tags,
  ...needs('messages:read'),
  request: { params: dossierParams, query: z.strictObject(pageQuery) },
  responses: { ...problems(), 200: jsonResponse(activityPageSchema, 'A page of activities') },
})

/** `/dossiers/:id/consents` and `/dossiers/:id/activity`. */
export function addDossierRoutes(app: ApiApp): void {
  app.openapi(listConsents, async (c) => {
    const result = await c.get('database').call('list_consents', {
      p_org_id: c.get('principal').orgId,
      p_dossier_id: c.req.valid('param').dossierId,
    }, consentsSchema)
    return c.json(result, 200)
  })

  app.openapi(recordConsent, async (c) => {
    const { orgId, actor } = c.get('principal')
    const { channel, purposes, granted, source, evidence } = c.req.valid('json')
    const result = await c.get('database').call(granted ? 'grant_consent' : 'revoke_consent', {
      p_org_id: orgId,
      p_dossier_id: c.req.valid('param').dossierId,
      p_channel: channel,
      p_purposes: purposes,
      p_source: source,
      p_actor: actor,
      ...evidence === undefined ? {} : { p_evidence: evidence },
    }, consentsSchema)
    return c.json(result, 201)
  })

  app.openapi(listActivity, async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const activities = await c.get('database').call('list_activity', {
      p_org_id: c.get('principal').orgId,
      p_dossier_id: c.req.valid('param').dossierId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
    }, activityPageSchema)
    return c.json(activities, 200)
  })
}
