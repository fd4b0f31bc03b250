import * as z from 'zod'

/** The Graph API's headers about the used share of an hour's calls. */
export const usageHeaders = ['x-app-usage', 'x-business-use-case-usage'] as const

/** An entry of the second header: percentages, and the minutes until calls are accepted again. */
const useCase = z.looseObject({ estimated_time_to_regain_access: z.number().nonnegative() })
const useCases = z.record(z.string(), z.array(z.unknown()))

/** The usage headers, and the seconds to wait (0: none). */
export type Usage = { usage: Record<string, unknown> | null; waitS: number }

/** Reads the usage headers of a response; one that is not JSON is ignored. */
export function readUsage(headers: Record<string, string>): Usage {
  const usage: Record<string, unknown> = {}
  for (const name of usageHeaders) {
    const value = parsed(headers[name])
    if (value !== null) usage[name] = value
  }
  const minutes = waits(usage['x-business-use-case-usage'])
  const isEmpty = Object.keys(usage).length === 0
  return { usage: isEmpty ? null : usage, waitS: Math.max(0, ...minutes) * 60 }
}

function parsed(text: string | undefined): unknown {
  if (text === undefined || text.length > 4096) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function waits(value: unknown): number[] {
  const read = useCases.safeParse(value)
  if (!read.success) return []
  return Object.values(read.data).flat().map((entry) => {
    const one = useCase.safeParse(entry)
    return one.success ? one.data.estimated_time_to_regain_access : 0
  })
}
