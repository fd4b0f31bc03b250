import type { Timed } from './step.ts'

/** The tests of a JUnit report as `deno test --junit-path` writes it, each with its seconds. */
export function readJunit(xml: string): Timed[] {
  return [...xml.matchAll(/<testcase name="([^"]*)" classname="([^"]*)" time="([\d.]+)"/g)]
    .map(([, name = '', file = '', seconds]) => ({
      name: `${plain(file).replace(/^\.\//, '')}: ${plain(name)}`,
      seconds: Number(seconds),
    }))
}

function plain(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'").replaceAll('&amp;', '&')
}
