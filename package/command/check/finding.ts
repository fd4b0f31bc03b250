/** What one check found. */
export interface Finding {
  /** A stable name, such as `schema-exposed`. */
  id: string
  status: 'ok' | 'warning' | 'error' | 'skipped'
  /** What is the case, in a sentence. */
  finding: string
  /** What to do about it; only for a warning or an error. */
  remedy?: string
  /** The page of Outhook's repository that says more. */
  page?: string
}

export function ok(id: string, finding: string): Finding {
  return { id, status: 'ok', finding }
}

export function skipped(id: string, finding: string): Finding {
  return { id, status: 'skipped', finding }
}

export function warning(id: string, finding: string, remedy: string, page?: string): Finding {
  return { id, status: 'warning', finding, remedy, ...page === undefined ? {} : { page } }
}

export function error(id: string, finding: string, remedy: string, page?: string): Finding {
  return { id, status: 'error', finding, remedy, ...page === undefined ? {} : { page } }
}

/** The section of the runbook with this title. */
export function runbook(title: string): string {
  return `sql/ops/RUNBOOK.md#${title.toLowerCase().replaceAll(' ', '-')}`
}
