/** The functions as the gateway sees them: their names and current ports. */

/** One function, regardless of its process. */
export interface FunctionTarget {
  /** `verify_jwt` of config.toml. */
  verifyJwt: boolean
  /**
   * The function's address (`http://127.0.0.1:<port>`); waits while its process starts.
   *
   * @param patienceMs The longest wait in ms.
   * @returns null if the process did not listen in that time.
   */
  origin(patienceMs: number): Promise<string | null>
}

/** Looked up at each request, so a Map that is filled later works. */
export interface FunctionTargets {
  get(name: string): FunctionTarget | undefined
}
