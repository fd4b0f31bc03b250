import type { PortalFiles } from './build.ts'

/** Where the hosted page finds the API. */
export interface PageOptions {
  /** The URL of the project. */
  api: string
  functionName: string
}

/** The files with the address of the API in the hosted page, and in its Content-Security-Policy. */
export function withApi(files: PortalFiles, { api, functionName }: PageOptions): PortalFiles {
  const values: Readonly<Record<string, string>> = {
    api: escaped(new URL(api).href.replace(/\/$/, '')),
    origin: escaped(new URL(api).origin),
    function: escaped(functionName),
  }
  const page = new TextDecoder().decode(files.get('index.html'))
    .replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '')
  return new Map([...files, ['index.html', new TextEncoder().encode(page)]])
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
