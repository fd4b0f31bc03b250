import { createRoute } from '../zod_openapi.ts'
import { identifier } from '../../_shared/messages/whatsapp/phone.ts'
import type { ApiApp } from '../context.ts'
import { partedSchema, partSchema, personParams, personSchema } from '../schemas/people.ts'
import { jsonBody, jsonResponse, needs, problems } from './route.ts'

const tags = ['People']

const get = createRoute({
  method: 'get',
  path: '/people/{recipient}',
  operationId: 'getPerson',
  summary: 'Get the person with a number, a wa_id or a user id of WhatsApp',
  tags,
  ...needs('consents:read'),
  request: { params: personParams },
  responses: { ...problems('not_found'), 200: jsonResponse(personSchema, 'The person') },
})

const part = createRoute({
  method: 'post',
  path: '/people/part',
  operationId: 'partPerson',
  summary: 'Part people who were joined by mistake',
  description:
    'The identifiers become a person of their own. Both people keep all opt-outs, and their windows are closed.',
  tags,
  ...needs('consents:write'),
  request: { body: jsonBody(partSchema) },
  responses: {
    ...problems('not_found', 'wrong_state'),
    200: jsonResponse(partedSchema, 'Both people'),
  },
})

/** `/people`: get, part. */
export function addPeopleRoutes(app: ApiApp): void {
  app.openapi(get, async (c) => {
    const { recipient } = c.req.valid('param')
    const person = await c.get('database').call('get_person', {
      p_org_id: c.get('principal').orgId,
      p_recipient: identifier(recipient) ?? recipient,
    }, personSchema)
    return c.json(person, 200)
  })

  app.openapi(part, async (c) => {
    const { orgId, actor } = c.get('principal')
    const { recipients } = c.req.valid('json')
    const people = await c.get('database').call('part_person', {
      p_org_id: orgId,
      p_recipients: recipients.map((one) => identifier(one) ?? one),
      p_actor: actor,
    }, partedSchema)
    return c.json(people, 200)
  })
}
