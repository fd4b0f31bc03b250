import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { settingsSchema } from '../schemas/settings.ts'
import { jsonResponse, needs, problems } from './route.ts'

const list = createRoute({
  method: 'get',
  path: '/settings',
  operationId: 'listSettings',
  summary: 'List the settings that an organisation may have for itself; a secret key sees all',
  tags: ['Settings'],
  ...needs('settings:read'),
  responses: { ...problems(), 200: jsonResponse(settingsSchema, 'The settings by name') },
})

/** `/settings`. */
export function addSettingRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { orgId, kind } = c.get('principal')
    const settings = await c.get('database').call('list_org_settings', {
      p_org_id: orgId,
      // The other settings are about the operator's project, such as its proxy.
      p_all: kind === 'key',
    }, settingsSchema)
    return c.json(settings, 200)
  })
}
