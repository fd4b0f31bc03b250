/**
 * Each text that results from adding `element` to an array that is the value of a key `name`. It does
 * not know tables: the caller parses the results and takes the one that means what it wants.
 */
export function addToArrays(text: string, name: string, element: string): string[] {
  const key = new RegExp(String.raw`(?<![\w-])["']?${name}["']?[ \t]*=[ \t]*\[`, 'g')
  return [...text.matchAll(key)].flatMap(({ 0: { length }, index }) => {
    const added = addElement(text, index + length, element)
    return added === null ? [] : [added]
  })
}

/** Adds the element to the array whose content starts at `start`; null if the array has no end. */
function addElement(text: string, start: number, element: string): string | null {
  let at = start
  // Behind the last character that is neither blank nor of a comment.
  let end = start
  let hasComma = true
  while (at < text.length) {
    const char = text[at] ?? ''
    if (char === ']') return insert(text, end, hasComma ? '' : ',', element, start, at)
    if (char === '#') {
      at = endOfLine(text, at)
      continue
    }
    if (char === '"' || char === "'") {
      at = endOfString(text, at, char)
    } else {
      at += 1
    }
    if (/\s/.test(char)) continue
    hasComma = char === ','
    end = at
  }
  return null
}

/** Puts the element behind the last one: on a line of its own if the last one has one. */
function insert(
  text: string,
  end: number,
  comma: string,
  element: string,
  start: number,
  close: number,
): string {
  const isEmpty = text.slice(start, end).trim() === ''
  if (isEmpty) return text.slice(0, start) + element + text.slice(start)
  const line = text.slice(text.lastIndexOf('\n', end - 1) + 1, end)
  const [indent = ''] = /^[ \t]*/.exec(line) ?? []
  const isOnOwnLine = !line.includes('[') && endOfLine(text, end) < close
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const between = isOnOwnLine ? `${newline}${indent}` : ' '
  // A comment behind the last element stays on its line.
  const after = isOnOwnLine ? endOfLine(text, end) : end
  const rest = text.slice(end, after).replace(/\r$/, '')
  return text.slice(0, end) + comma + rest + between + element + (comma === '' ? ',' : '') +
    text.slice(end + rest.length)
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

function endOfString(text: string, at: number, quote: string): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\' && quote === '"') i += 1
    else if (text[i] === quote) return i + 1
  }
  return text.length
}
