import type { Finding } from './finding.ts'

/** Everything that was found, as `--json` prints it. */
export interface Report {
  command: string
  project: string
  checkedAt: string
  findings: Finding[]
}

const signs: Readonly<Record<Finding['status'], string>> = {
  ok: 'ok      ',
  warning: 'WARNING ',
  error: 'ERROR   ',
  skipped: 'skipped ',
}

/** The report for a person: a line for each finding, with its remedy and the page below. */
export function showReport({ command, project, findings }: Report): string {
  const lines = findings.flatMap(({ id, status, finding, remedy, page }) => [
    `${signs[status]}${id}: ${finding}`,
    ...remedy === undefined ? [] : [`        ${remedy}`],
    ...page === undefined ? [] : [`        See ${page}`],
  ])
  const count = (status: Finding['status']): number =>
    findings.filter((one) => one.status === status).length
  return [
    `Outhook ${command} checks ${project}`,
    ...lines,
    `Errors: ${count('error')}, warnings: ${count('warning')}`,
  ].join('\n')
}

/** Texts that may be secrets, whatever a message of the platform contains. */
const secretForms: [RegExp, string][] = [
  [/\bsb_(secret|publishable)_[\w-]+/g, 'sb_$1_…'],
  [/\bsbp_[\w-]+/g, 'sbp_…'],
  [/\bwhsec_[\w+/=-]+/g, 'whsec_…'],
  [/\beyJ[\w-]*(\.[\w-]+)*/g, 'eyJ…'],
  [/:\/\/[^/\s"@]+@/g, '://…@'],
  [/\b[0-9a-f]{48,}\b/g, '…'],
]

/** The text without the key and without anything that has the form of a secret. */
export function withoutSecrets(text: string, key: string): string {
  const own = key === '' ? text : text.replaceAll(key, '…')
  return secretForms.reduce((left, [form, instead]) => left.replace(form, instead), own)
}
