import { OpenAPIHono } from './zod_openapi.ts'
import { responseHeaders } from '../_shared/http/response_headers.ts'
import type { ApiApp, ApiDeps, ApiEnv } from './context.ts'
import { createCallQueues } from './call_queue.ts'
import { asActor } from './database.ts'
import { authentication } from './middleware/access.ts'
import { cors } from './middleware/cors.ts'
import { createBodyRoom } from '../_shared/http/body_room.ts'
import {
  bodyLimit,
  headLimit,
  type RequestLimits,
  requestLimits,
  tokenBodies,
} from './middleware/limits.ts'
import { errorResponse, handleError, missingRoute, readIssues } from './middleware/problem.ts'
import { rateLimit } from './middleware/rate_limit.ts'
import { requestLog } from './middleware/request_log.ts'
import { continueTrace, tracing } from './middleware/trace.ts'
import { describeApi } from './openapi.ts'
import { addActivityRoutes } from './routes/activity.ts'
import { addAttemptRoutes } from './routes/attempts.ts'
import { addAuditRoutes } from './routes/audit_events.ts'
import { addBackfillRoutes } from './routes/backfills.ts'
import { addCallbackRoutes } from './routes/callbacks.ts'
import { addChannelRoutes } from './routes/channels.ts'
import { addConsumerRoutes } from './routes/consumers.ts'
import { addDeadLetterRoutes } from './routes/dead_letters.ts'
import { addDeliveryRoutes } from './routes/deliveries.ts'
import { addDossierRoutes } from './routes/dossiers.ts'
import { addEndpointActionRoutes } from './routes/endpoint_actions.ts'
import { addEndpointRoutes } from './routes/endpoints.ts'
import { addEventTypeRoutes } from './routes/event_types.ts'
import { addEventRoutes } from './routes/events.ts'
import { addFilterTrialRoutes } from './routes/filter_trials.ts'
import { addHealthRoutes } from './routes/health.ts'
import { addInboundRoutes } from './routes/inbound_messages.ts'
import { addMessageRoutes } from './routes/messages.ts'
import { addOptOutRoutes } from './routes/opt_outs.ts'
import { addOverviewRoutes } from './routes/overview.ts'
import { addPeopleRoutes } from './routes/people.ts'
import { addPortalTokenRoutes } from './routes/portal_tokens.ts'
import { addReplayJobRoutes } from './routes/replay_jobs.ts'
import { addRetryConfigRoutes } from './routes/retry_config.ts'
import { addRunRoutes } from './routes/runs.ts'
import { addSagaLogRoutes } from './routes/saga_log.ts'
import { addSagaRoutes } from './routes/sagas.ts'
import { addSearchRoutes } from './routes/search.ts'
import { addSecretRoutes } from './routes/secrets.ts'
import { addSessionRoutes } from './routes/session.ts'
import { addSettingRoutes } from './routes/settings.ts'
import { addTemplateRoutes } from './routes/templates.ts'
import { addWhatsappAppRoutes } from './routes/whatsapp_apps.ts'

/**
 * Creates the API. It identifies the caller from the headers before it reads the body; only the
 * callbacks come earlier, because they have their own limits and signatures.
 */
export function createApp(
  { database, ...deps }: ApiDeps,
  limits: RequestLimits = requestLimits,
): ApiApp {
  const inQueue = createCallQueues(database, deps.now)
  const root = new OpenAPIHono<ApiEnv>({
    defaultHook(result): void {
      if (!result.success) throw readIssues(result.error.issues, result.target)
    },
  })
  root.use(responseHeaders)
  const app = root.basePath('/api/v1')
  app.onError(handleError(deps.log))
  app.notFound((c) => errorResponse(missingRoute(app, c.req), c.get('requestId')))

  app.use(requestLog(deps))
  app.use(tracing(deps.tracer ?? null, deps.now))
  const crossOrigin = cors(deps.corsOrigins)
  if (crossOrigin !== null) app.use(crossOrigin)
  app.use(headLimit(limits))
  addCallbackRoutes(app, deps)
  let description: string | null = null
  app.get('/openapi.json', (c) => {
    description ??= JSON.stringify(describeApi(app))
    return c.body(description, 200, { 'content-type': 'application/json' })
  })
  app.use(authentication(deps.authenticate))
  app.use(continueTrace(deps.tracer ?? null))
  app.use(rateLimit({ database, now: deps.now }))
  app.use(bodyLimit(limits, createBodyRoom(tokenBodies)))
  app.use(async (c, next) => {
    const { orgId, kind, actor } = c.get('principal')
    // Tokens cannot take the places of requests with a secret key, by which an operator acts for the organisation.
    const key = `${kind === 'key' ? 'key' : 'token'} ${orgId}`
    await inQueue(key, c.get('maxInFlight'), async (queued) => {
      c.set('database', asActor(queued, actor))
      await next()
    })
  })

  addEndpointRoutes(app)
  addEndpointActionRoutes(app, deps)
  addRetryConfigRoutes(app)
  addFilterTrialRoutes(app)
  addSecretRoutes(app)
  addPortalTokenRoutes(app, deps)
  addSessionRoutes(app, deps)
  addDeadLetterRoutes(app)
  addReplayJobRoutes(app)
  addBackfillRoutes(app)
  addHealthRoutes(app)
  addOverviewRoutes(app)
  addEventRoutes(app, deps)
  addEventTypeRoutes(app)
  addDeliveryRoutes(app)
  addAttemptRoutes(app)
  addMessageRoutes(app, deps)
  addDossierRoutes(app)
  addAuditRoutes(app)
  addActivityRoutes(app)
  addSearchRoutes(app)
  addTemplateRoutes(app)
  addChannelRoutes(app, deps)
  addWhatsappAppRoutes(app)
  addOptOutRoutes(app)
  addPeopleRoutes(app)
  addSagaRoutes(app)
  addSagaLogRoutes(app)
  addSettingRoutes(app)
  addConsumerRoutes(app)
  addRunRoutes(app)
  addInboundRoutes(app)
  return app
}
