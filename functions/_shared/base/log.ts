/** The optional keys of a line; a value without a key here cannot be logged. */
export type LogFields = {
  run?: string
  request?: string
  method?: string
  route?: string
  org?: string
  kind?: string
  event?: string
  endpoint?: string
  /** A broker's topic or queue. */
  topic?: string
  consumer?: string
  attempt?: number
  failed_attempts?: number
  delay_ms?: number
  trace_id?: string
  spans?: number
  outcome?: string
  status?: number
  error_class?: string
  error?: string
  ms?: number
  delivered?: number
  failed?: number
  released?: number
  stale?: number
  dispatches?: number
  reason?: string
  stored?: number
  duplicates?: number
  applied?: number
  skipped?: number
  kept?: number
  warnings?: number
  resent?: boolean
  port?: number
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Writes one line of JSON. Bodies, headers and secrets have no field, so they are never logged. */
export type Log = (level: LogLevel, message: string, fields?: LogFields) => void

export type LogOptions = {
  /** Whether to write `debug` lines, such as one for each successful attempt of an edge run. */
  debug: boolean
  write?: (line: string) => void
  now?: () => number
}

/** Creates a log. */
export function createLog({ debug, write = writeLine, now = Date.now }: LogOptions): Log {
  return function log(level, message, fields = {}): void {
    if (level === 'debug' && !debug) return
    write(JSON.stringify({ time: new Date(now()).toISOString(), level, message, ...fields }))
  }
}

function writeLine(line: string): void {
  // deno-lint-ignore no-console -- the edge runtime collects a function's log from its console
  console.log(line)
}
