/** How a real server is run as a receiver that echoes `webhook-id`. */

/** Where a server runs. */
export interface Place {
  /** A folder of its own: its configuration, its log and its working folder. */
  folder: string
  /** A port of 127.0.0.1. */
  port: number
  /** Files of a certificate for 127.0.0.1 and its key, for a server with TLS. */
  certFile: string
  keyFile: string
}

export interface Recipe {
  name: string
  /** Files to write into the folder, by name. */
  files(place: Place): Record<string, string>
  /** The program and its arguments; it must stay in the foreground. */
  command(place: Place): string[]
  scheme: 'http' | 'https'
  /** The path that echoes. */
  path: string
  /**
   * The signal to the first process that replaces its workers and refuses no connection meanwhile; null:
   * the server has no such signal.
   */
  reload: Deno.Signal | null
}
