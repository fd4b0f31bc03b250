import { createRoute, z } from '@hono/zod-openapi'
import type { ApiApp, ApiDeps } from '../context.ts'
import { idempotencyKeyHeader, pageQuery } from '../schemas/common.ts'
import {
  newReplayJobSchema,
  replayJobPageSchema,
  replayJobParams,
  replayJobSchema,
} from '../schemas/replay_jobs.ts'
import { maySendMessages, messageType } from '../middleware/message_rule.ts'
import { jsonBody, jsonResponse, needs, problems } from './route.ts'

const tags = ['Replay jobs']

const create = createRoute({
  method: 'post',
  path: '/replay-jobs',
  operationId: 'createReplayJob',
  summary: 'Create a job that sends matching dead letters again',
  tags,
  ...needs('deliveries:replay'),
  request: { headers: idempotencyKeyHeader, body: jsonBody(newReplayJobSchema) },
  responses: {
    ...problems('not_found', 'idempotency_conflict', 'limit_reached'),
    201: jsonResponse(replayJobSchema, 'The job, which has started'),
  },
})

const list = createRoute({
  method: 'get',
  path: '/replay-jobs',
  operationId: 'listReplayJobs',
  summary: 'List replay jobs, newest first',
  tags,
  ...needs('deliveries:read'),
  request: { query: z.strictObject(pageQuery) },
  responses: { ...problems(), 200: jsonResponse(replayJobPageSchema, 'A page of replay jobs') },
})

const get = createRoute({
  method: 'get',
  path: '/replay-jobs/{replayJobId}',
  operationId: 'getReplayJob',
  summary: 'Get the progress of a replay job',
  tags,
  ...needs('deliveries:read'),
  request: { params: replayJobParams },
  responses: { ...problems('not_found'), 200: jsonResponse(replayJobSchema, 'The job') },
})

const pause = changeRoute('pause', 'pauseReplayJob', 'Pause a replay job')
const resume = changeRoute('resume', 'resumeReplayJob', 'Resume a paused replay job')
const cancel = changeRoute(
  'cancel',
  'cancelReplayJob',
  'Cancel a replay job; replayed deliveries stay replayed',
)

/** `/replay-jobs`: create, list, get, pause, resume, cancel. */
export function addReplayJobRoutes(app: ApiApp, { database }: ApiDeps): void {
  const change = (orgId: string, id: string, status: string): Promise<ReplayJob> =>
    database.call('change_replay_job', {
      p_org_id: orgId,
      p_id: id,
      p_status: status,
    }, replayJobSchema)

  app.openapi(create, async (c) => {
    const key = c.req.valid('header')['idempotency-key']
    const job = await database.call('create_replay_job', {
      p_org_id: c.get('principal').orgId,
      p_job: {
        ...c.req.valid('json'),
        ...maySendMessages(c.get('principal')) ? {} : { exceptType: messageType },
      },
      ...key === undefined ? {} : { p_key: key },
    }, replayJobSchema)
    c.header('location', `${c.req.path}/${job.id}`)
    return c.json(job, 201)
  })

  app.openapi(list, async (c) => {
    const { cursor, limit } = c.req.valid('query')
    const page = await database.call('list_replay_jobs', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
    }, replayJobPageSchema)
    return c.json(page, 200)
  })

  app.openapi(get, async (c) => {
    const job = await database.call('get_replay_job', {
      p_org_id: c.get('principal').orgId,
      p_id: c.req.valid('param').replayJobId,
    }, replayJobSchema)
    return c.json(job, 200)
  })

  app.openapi(pause, async (c) => {
    const { replayJobId } = c.req.valid('param')
    return c.json(await change(c.get('principal').orgId, replayJobId, 'paused'), 200)
  })

  app.openapi(resume, async (c) => {
    const { replayJobId } = c.req.valid('param')
    return c.json(await change(c.get('principal').orgId, replayJobId, 'running'), 200)
  })

  app.openapi(cancel, async (c) => {
    const { replayJobId } = c.req.valid('param')
    return c.json(await change(c.get('principal').orgId, replayJobId, 'cancelled'), 200)
  })
}

type ReplayJob = z.infer<typeof replayJobSchema>

// deno-lint-ignore explicit-function-return-type -- the type of a route is inferred from its parts
function changeRoute<Verb extends string>(verb: Verb, operationId: string, summary: string) {
  return createRoute({
    method: 'post',
    path: `/replay-jobs/{replayJobId}/${verb}`,
    operationId,
    summary,
    tags,
    ...needs('deliveries:replay'),
    request: { params: replayJobParams },
    responses: {
      ...problems('not_found', 'wrong_state'),
      200: jsonResponse(replayJobSchema, 'The job as it is now'),
    },
  })
}
