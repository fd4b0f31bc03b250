/** A flag that one task waits for and others set; it stays set until the next wait. */
export class Signal {
  #set = false
  #resume: (() => void) | null = null

  set(): void {
    this.#set = true
    this.#resume?.()
  }

  /** Resolves when the flag is set, and clears it; or after `timeoutMs`. */
  async wait(timeoutMs?: number): Promise<void> {
    if (!this.#set) {
      await new Promise<void>((resolve) => {
        const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs)
        this.#resume = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#resume = null
    }
    this.#set = false
  }
}
