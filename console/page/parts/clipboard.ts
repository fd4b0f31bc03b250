/**
 * Copies a text, and resolves with whether it is in the clipboard. The clipboard of the browser needs a
 * secure context, which a host without TLS is not, and a frame may not be allowed to use it.
 */
export async function writeClipboard(text: string, beside: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text, beside)
  }
}

/** The older way. While a dialog is open, only what is inside of it can be selected. */
function copySelected(text: string, beside: Element): boolean {
  const field = document.createElement('textarea')
  field.value = text
  beside.after(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  return isCopied
}
