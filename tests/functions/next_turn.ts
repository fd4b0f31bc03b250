/**
 * Lets the event loop go round once. undici puts a connection back into its pool only then, so that bytes or an end that
 * the peer has sent after its answer are seen first.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
