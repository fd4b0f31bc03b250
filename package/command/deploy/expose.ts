import { setTimeout as wait } from 'node:timers/promises'
import { callDataApi, causeOf, parseJson, type Target } from '../remote/data_api.ts'

/** Adds the schema to those that the Data API exposes, by the Management API of the platform. */
export async function exposeSchema(
  { api, token, projectRef }: { api: string; token: string; projectRef: string },
): Promise<string | null> {
  const url = `${api}/v1/projects/${projectRef}/postgrest`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  try {
    const signal = AbortSignal.timeout(30_000)
    const read = await fetch(url, { headers, signal })
    const schemas = schemasOf(parseJson(await read.text()))
    if (!read.ok || schemas === null) return `the Management API responded ${read.status}`
    if (schemas.includes('outbox')) return null
    const body = JSON.stringify({ db_schema: [...schemas, 'outbox'].join(', ') })
    const written = await fetch(url, { method: 'PATCH', headers, body, signal })
    await written.body?.cancel()
    return written.ok ? null : `the Management API responded ${written.status}`
  } catch (error) {
    return causeOf(error)
  }
}

function schemasOf(value: unknown): string[] | null {
  if (typeof value !== 'object' || value === null || !('db_schema' in value)) return null
  const { db_schema: text } = value
  if (typeof text !== 'string') return null
  return text.split(',').map((name) => name.trim()).filter((name) => name !== '')
}

/** Waits until the Data API knows the schema; false if it does not within the time. */
export async function waitUntilExposed(target: Target, timeoutMs: number): Promise<boolean> {
  const until = Date.now() + timeoutMs
  while (true) {
    const read = await callDataApi(target, 'check_installation', {})
    if (read.ok) return true
    if (Date.now() >= until) return false
    await wait(1_000)
  }
}
