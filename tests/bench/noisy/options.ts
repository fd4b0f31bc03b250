/** What the process of the noisy organisation needs to know. */
export type NoiseOptions = {
  /** The address of the API. */
  api: string
  /** The credentials of the organisation. */
  headers: Record<string, string>
  /** Filters of the greatest weight. */
  filters: string[]
}
