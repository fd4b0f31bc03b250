/** Cuts text into lines. */
export function lineStream(): TransformStream<string, string> {
  let rest = ''
  return new TransformStream({
    transform(text, controller): void {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) controller.enqueue(line)
    },
  })
}
