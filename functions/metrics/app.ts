import { Hono } from 'hono'
import { accepts } from 'hono/accepts'
import { messageOf } from '../_shared/base/errors.ts'
import type { Log } from '../_shared/base/log.ts'
import { notFound } from '../_shared/http/not_found.ts'
import { problemResponse } from '../_shared/http/problem.ts'
import { responseHeaders } from '../_shared/http/response_headers.ts'
import { requestSpans, type SpanVariables } from '../_shared/trace/request_span.ts'
import type { Tracer } from '../_shared/trace/tracer.ts'
import { version } from '../_shared/base/version.ts'
import { sameVersionAdvice } from '../_shared/database/versions.ts'
import type { MetricsResult } from './contract.ts'
import { counterFamilies } from './counters.ts'
import { gaugeFamilies } from './gauges.ts'
import { VersionError } from './database.ts'
import { histogramFamilies } from './histograms.ts'
import { contentTypes, writeText } from './text.ts'
import { bearsToken } from '../_shared/http/bearer.ts'

export type MetricsDeps = {
  /** Accepted bearer tokens; an empty list: the function is not set up yet. */
  tokens: readonly string[]
  readMetrics(): Promise<MetricsResult>
  log: Log
  /** Exports a span for each request; null or absent: none. */
  tracer?: Tracer | null
}

const openMetrics = 'application/openmetrics-text'

/**
 * The function's HTTP side: `GET /metrics` returns the metrics in the format of Prometheus or
 * OpenMetrics, by the Accept header (503 without a database); `GET /metrics/health` returns the version.
 */
export function createApp(
  { tokens, readMetrics, log, tracer = null }: MetricsDeps,
): Hono<SpanVariables> {
  const root = new Hono<SpanVariables>()
  root.use(responseHeaders)
  const app = root.basePath('/metrics')
  // The scraper may be traced itself.
  app.use(requestSpans(tracer, {
    isTrusted: (c) => bearsToken(c.req.header('authorization'), tokens),
  }))

  app.get('/health', (c) => c.json({ status: 'ok', version }))

  app.get('/', async (c) => {
    if (tokens.length === 0) {
      return problemResponse({
        status: 503,
        code: 'not_configured',
        title: 'Not configured',
        detail:
          'OUTHOOK_METRICS_TOKEN is not set: set it to the bearer token that Prometheus sends',
      })
    }
    if (!bearsToken(c.req.header('authorization'), tokens)) {
      const refusal = problemResponse({
        status: 401,
        code: 'unauthorized',
        title: 'Not authorized',
        detail: 'Send Authorization: Bearer with the token in OUTHOOK_METRICS_TOKEN',
      })
      refusal.headers.set('www-authenticate', 'Bearer')
      return refusal
    }
    let result: MetricsResult
    try {
      result = await readMetrics()
    } catch (error) {
      log('error', 'metrics failed', { error: messageOf(error) })
      if (error instanceof VersionError) {
        return problemResponse({
          status: 503,
          code: 'contract_mismatch',
          title: 'Versions do not match',
          detail: `No metrics: ${sameVersionAdvice}`,
        })
      }
      return problemResponse({
        status: 503,
        code: 'unavailable',
        title: 'Not available',
        detail: 'The database did not respond; see the log of this function',
      })
    }
    const wanted = accepts(c, {
      header: 'Accept',
      supports: ['text/plain', openMetrics],
      default: 'text/plain',
    })
    const format = wanted === openMetrics ? 'openmetrics' : 'prometheus'
    const families = [
      ...counterFamilies(result),
      ...histogramFamilies(result),
      ...gaugeFamilies(result),
    ]
    return c.body(writeText(families, format), 200, {
      'content-type': contentTypes[format],
    })
  })

  app.notFound(notFound(app))
  return app
}
