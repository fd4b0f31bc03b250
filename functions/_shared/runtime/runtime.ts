import type { Duplex } from 'node:stream'

/**
 * What the worker and its connections need from the runtime and cannot have in the same way from each: Deno and
 * Node have a file each in this folder. Such a file decides nothing. Which addresses are allowed, how long
 * something may take and what an error means is decided by the code that calls it, once for both.
 */
export type Runtime = {
  /** Whether `fetch()` checks certificates by our rules, whatever the environment says. */
  readonly hasSafeFetch: boolean
  /** The environment variables. */
  environment(): Record<string, string | undefined>
  /** Calls `stop` at each SIGTERM and SIGINT. */
  onStopSignal(stop: () => void): void
  /** Writes the whole text to standard output before it returns. */
  writeStdout(text: string): void
  /** Ends the process. */
  exit(code: number): never
  /**
   * Replaces the process by one with the flags of V8 that the worker needs, if it has none and the runtime can.
   * The process keeps its id. Returns what is wrong with a process that it cannot replace, or null.
   */
  restartWithFlags(): string | null
  /** Why there are too few threads to look up names, with the remedy, or null. */
  threadsProblem(): string | null
  /** How many threads can look up names at a time. */
  lookupThreads(): number
  /**
   * Opens a TCP connection without delay of small packets and with keep-alive. `hostname` is a vetted address,
   * or the operator's proxy. Rejects with an error that faultOf() can classify.
   */
  connectTcp(to: { hostname: string; port: number }): Promise<TcpConn>
}

/** An open connection: read and write it, or use it as a stream, but not both. */
export type Conn = {
  /** Reads at least one byte; null: the peer has ended its side. */
  read(into: Uint8Array): Promise<number | null>
  /** Writes at least one byte and returns how many. */
  write(bytes: Uint8Array): Promise<number>
  /** Closes it, also if it is closed already. */
  close(): void
  /** The connection as a stream. Destroying the stream closes it. */
  toStream(): Duplex
}

/** A connection on which TLS may start. */
export type TcpConn = Conn & {
  /**
   * Starts TLS for HTTP/1.1 and resolves after the handshake. The certificate must be valid for `hostname`, by
   * its subject alternative names. From then on close() closes the connection with TLS.
   */
  startTls(to: TlsTo): Promise<Conn>
}

export type TlsTo = {
  /** A name, or an address without brackets. */
  hostname: string
  /** Certificates (PEM) to trust instead of the default roots. */
  ca?: string | undefined
}
