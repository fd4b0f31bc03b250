import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Tracer } from './tracer.ts'

export type LoadOptions = {
  environment: Record<string, string | undefined>
  clock: Clock
  log: Log
  /** Keeps the process alive until the promise settles. */
  keepAlive(promise: Promise<void>): void
}

/**
 * The tracer for OpenTelemetry's variables; null without a collector, and then the tracing code is not
 * loaded. Throws an error that names an invalid variable.
 */
export async function loadTracer(options: LoadOptions): Promise<Tracer | null> {
  const { environment } = options
  const endpoint = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ||
    environment.OTEL_EXPORTER_OTLP_ENDPOINT
  if (!endpoint || environment.OTEL_SDK_DISABLED === 'true') return null
  const [{ readTraceEnv }, { createOtlpTracer }] = await Promise.all([
    import('./env.ts'),
    import('./otlp_tracer.ts'),
  ])
  return createOtlpTracer({ ...options, env: readTraceEnv(environment), fetch })
}
