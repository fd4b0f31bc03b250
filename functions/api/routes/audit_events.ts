import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { chargeRows, rowsRead } from '../rows_read.ts'
import { auditPageSchema, auditQuery } from '../schemas/audit_events.ts'
import { jsonResponse, needs, problems } from './route.ts'

const list = createRoute({
  method: 'get',
  path: '/audit-events',
  operationId: 'listAuditEvents',
  summary: 'List the audit trail, newest first',
  tags: ['Audit'],
  ...needs('audit:read'),
  request: { query: auditQuery },
  responses: { ...problems(), 200: jsonResponse(auditPageSchema, 'A page of audit events') },
})

export function addAuditRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { limit, cursor, entityType, entityId, action, actor, correlationId, from, to } = c.req
      .valid('query')
    const { rows, ...page } = await c.get('database').call('list_audit_events', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
      ...entityType === undefined ? {} : { p_entity_type: entityType },
      ...entityId === undefined ? {} : { p_entity_id: entityId },
      ...action === undefined ? {} : { p_audit_action: action },
      ...actor === undefined ? {} : { p_actor: actor },
      ...correlationId === undefined ? {} : { p_correlation_id: correlationId },
      ...from === undefined ? {} : { p_from: from },
      ...to === undefined ? {} : { p_to: to },
    }, auditPageSchema.extend({ rows: rowsRead }))
    chargeRows(c, rows)
    return c.json(page, 200)
  })
}
