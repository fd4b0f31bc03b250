/** How the gateway sees the functions: names, and where each one listens at this moment. */

/** One function, whatever process serves it. */
export interface FunctionTarget {
  /** `verify_jwt` of config.toml. */
  verifyJwt: boolean
  /**
   * Where the function listens (`http://127.0.0.1:<port>`); waits while its process starts.
   *
   * @param patienceMs Longest wait.
   * @returns null when the process was not up in that time.
   */
  origin(patienceMs: number): Promise<string | null>
}

/** Looked up per request, so a Map that is filled later will do. */
export interface FunctionTargets {
  get(name: string): FunctionTarget | undefined
}
