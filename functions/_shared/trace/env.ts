import * as z from 'zod'
import type { Attributes } from './tracer.ts'

/** OpenTelemetry's standard variables; variables that are not listed here have no effect. */
export type TraceEnv = {
  url: string
  headers: Record<string, string>
  timeoutMs: number
  resource: Attributes
  sampler: Sampler
}

/** The share of recorded traces: `root` for new ones, `parented` for those with a parent. */
export type Sampler = { root: number; parented: 'parent' | number }

/** `key1=value1,key2=value2`, percent-encoded. */
const pairs = z.string().default('').transform((text, context) => {
  const found: Record<string, string> = {}
  for (const pair of text.split(',').map((one) => one.trim()).filter((one) => one !== '')) {
    const at = pair.indexOf('=')
    try {
      const value = decodeURIComponent(pair.slice(at + 1).trim())
      if (at < 1 || /[^\t\x20-\x7e]/.test(value)) throw new Error()
      found[pair.slice(0, at).trim().toLowerCase()] = value
    } catch {
      context.addIssue('must be key=value pairs, separated by commas')
      return z.NEVER
    }
  }
  return found
})

const variables = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url().optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: pairs,
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce.number().int().min(100).max(60_000).default(10_000),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs,
  OTEL_TRACES_SAMPLER: z.enum([
    'always_on',
    'always_off',
    'traceidratio',
    'parentbased_always_on',
    'parentbased_always_off',
    'parentbased_traceidratio',
  ]).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
})

/** Reads the variables; throws an error that names the invalid one, never its value. */
export function readTraceEnv(environment: Record<string, string | undefined>): TraceEnv {
  const read = variables.safeParse(
    Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== '')),
  )
  if (!read.success) {
    const [issue] = read.error.issues
    throw new Error(`Cannot start: ${issue?.path.join('.')} ${issue?.message}`)
  }
  const env = read.data
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/$/, '')
  const name = env.OTEL_TRACES_SAMPLER
  const root = name.endsWith('ratio')
    ? env.OTEL_TRACES_SAMPLER_ARG
    : Number(name.endsWith('always_on'))
  return {
    url: env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? `${base}/v1/traces`,
    headers: { ...env.OTEL_EXPORTER_OTLP_HEADERS, ...env.OTEL_EXPORTER_OTLP_TRACES_HEADERS },
    timeoutMs: env.OTEL_EXPORTER_OTLP_TIMEOUT,
    resource: {
      ...env.OTEL_RESOURCE_ATTRIBUTES,
      'service.name': env.OTEL_SERVICE_NAME ?? env.OTEL_RESOURCE_ATTRIBUTES['service.name'] ??
        'outhook',
    },
    sampler: { root, parented: name.startsWith('parentbased') ? 'parent' : root },
  }
}
