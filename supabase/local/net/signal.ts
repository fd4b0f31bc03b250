/** A flag that one task waits on and others set; a flag set while nobody waits is kept. */
export class Signal {
  #set = false
  #resume: (() => void) | null = null

  set(): void {
    this.#set = true
    this.#resume?.()
  }

  /** Resolves when the flag is set, clearing it, or after `timeoutMs` when given. */
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
