import type { Context } from 'hono'
import { createRoute, z } from '../zod_openapi.ts'
import type { Principal } from '../auth/principal.ts'
import type { ApiApp, ApiEnv } from '../context.ts'
import type { ApiDatabase } from '../database.ts'
import { ApiError } from '../errors.ts'
import { chargeRows } from '../rows_read.ts'
import { idempotencyKeyHeader, pageQuery } from '../schemas/common.ts'
import {
  anyJobSchema,
  newReplayJobSchema,
  replayJobPageSchema,
  replayJobParams,
  replayJobSchema,
  replayPreviewQuerySchema,
  replayPreviewRows,
  replayPreviewSchema,
} from '../schemas/replay_jobs.ts'
import { maySendMessages, messageType } from '../middleware/message_rule.ts'
import { createdResponse, jsonBody, jsonResponse, needs, problems, setLocation } from './route.ts'

/** The routes of backfills have the same tag. */
export const tags = ['Replay jobs']

const create = createRoute({
  method: 'post',
  path: '/replay-jobs',
  operationId: 'createReplayJob',
  summary: 'Create a job that sends matching dead letters again',
  tags,
  ...needs('deliveries:replay'),
  request: { headers: idempotencyKeyHeader, body: jsonBody(newReplayJobSchema) },
  responses: {
    ...problems('not_found', 'idempotency_conflict', 'limit_reached', 'organisation_moved'),
    201: createdResponse(replayJobSchema, 'The job, which has started'),
  },
})

const preview = createRoute({
  method: 'post',
  path: '/replay-jobs/preview',
  operationId: 'previewReplayJob',
  summary: 'Count the dead letters that a job would send again',
  description: 'It changes nothing. The job that gets `failedTo` of the response replays these.',
  tags,
  ...needs('deliveries:read'),
  request: { body: jsonBody(replayPreviewQuerySchema) },
  responses: {
    ...problems('not_found'),
    200: jsonResponse(replayPreviewSchema, 'What the job would replay'),
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
  responses: { ...problems('not_found'), 200: jsonResponse(anyJobSchema, 'The job') },
})

const pause = changeRoute('pause', 'pauseReplayJob', 'Pause a replay job')
const resume = changeRoute('resume', 'resumeReplayJob', 'Resume a paused replay job')
const cancel = changeRoute(
  'cancel',
  'cancelReplayJob',
  'Cancel a replay job; replayed deliveries stay replayed',
)

/** `/replay-jobs`: create, preview, list, get, pause, resume, cancel. */
export function addReplayJobRoutes(app: ApiApp): void {
  const change = (c: Context<ApiEnv>, id: string, status: string): Promise<AnyJob> =>
    c.get('database').call('change_replay_job', {
      p_org_id: c.get('principal').orgId,
      p_id: id,
      p_status: status,
    }, anyJobSchema)

  app.openapi(create, async (c) => {
    const key = c.req.valid('header')['idempotency-key']
    const job = await c.get('database').call('create_replay_job', {
      p_org_id: c.get('principal').orgId,
      p_job: {
        ...c.req.valid('json'),
        ...maySendMessages(c.get('principal')) ? {} : { exceptType: messageType },
      },
      ...key === undefined ? {} : { p_key: key },
    }, replayJobSchema)
    setLocation(c, job.id)
    return c.json(job, 201)
  })

  app.openapi(preview, async (c) => {
    const caller = c.get('principal')
    const except = maySendMessages(caller) ? {} : { exceptType: messageType }
    const { rows, ...found } = await c.get('database').call('preview_replay_job', {
      p_org_id: caller.orgId,
      p_job: { ...c.req.valid('json'), ...except },
    }, replayPreviewRows)
    chargeRows(c, rows)
    return c.json(found, 200)
  })

  app.openapi(list, async (c) => {
    const { cursor, limit } = c.req.valid('query')
    const page = await c.get('database').call('list_replay_jobs', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
    }, replayJobPageSchema)
    return c.json(page, 200)
  })

  app.openapi(get, async (c) => {
    const job = await c.get('database').call('get_replay_job', {
      p_org_id: c.get('principal').orgId,
      p_id: c.req.valid('param').replayJobId,
    }, anyJobSchema)
    return c.json(job, 200)
  })

  app.openapi(pause, async (c) => {
    const { replayJobId } = c.req.valid('param')
    return c.json(await change(c, replayJobId, 'paused'), 200)
  })

  app.openapi(resume, async (c) => {
    const { replayJobId } = c.req.valid('param')
    await checkMayResume(c.get('database'), c.get('principal'), replayJobId)
    return c.json(await change(c, replayJobId, 'running'), 200)
  })

  app.openapi(cancel, async (c) => {
    const { replayJobId } = c.req.valid('param')
    return c.json(await change(c, replayJobId, 'cancelled'), 200)
  })
}

type AnyJob = z.infer<typeof anyJobSchema>

const jobTypes = z.object({
  source: z.string(),
  eventType: z.string().nullish(),
  exceptType: z.string().nullish(),
})

/** A job that another caller started may contain messages; a backfill contains none. */
async function checkMayResume(
  database: ApiDatabase,
  caller: Principal,
  id: string,
): Promise<void> {
  if (maySendMessages(caller)) return
  const job = await database.call('get_replay_job', { p_org_id: caller.orgId, p_id: id }, jobTypes)
  if (job.source !== 'dead_letters' || job.exceptType === messageType) return
  if (![null, messageType].includes(job.eventType ?? null)) return
  throw new ApiError('forbidden', 'The job may contain messages, which need messages:send', {
    remedy: 'Create a job with this token: it leaves messages out',
  })
}

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
      200: jsonResponse(anyJobSchema, 'The job as it is now'),
    },
  })
}
