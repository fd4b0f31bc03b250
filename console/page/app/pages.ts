import { hasKey, may } from './session.ts'

type Scope = Parameters<typeof may>[0]

/** A page of the console. */
interface PageOf {
  path: string
  name: string
  /** The key after `g` that goes there. */
  key: string
  /** What it reads, of which one is enough; `key`: only with a secret key. */
  needs: Needs
  /** The first words of the paths that belong to it, besides its own, with what they read. */
  also?: Readonly<Record<string, Needs>>
}

export type Needs = readonly Scope[] | 'key'

/** The pages in the order of the navigation. */
export const pages: readonly PageOf[] = [
  { path: '/', name: 'Overview', key: 'o', needs: ['deliveries:read'] },
  { path: '/events', name: 'Events', key: 'e', needs: ['events:read'] },
  { path: '/endpoints', name: 'Endpoints', key: 'n', needs: ['endpoints:read'] },
  { path: '/dead-letters', name: 'Dead letters', key: 'd', needs: ['deliveries:read'] },
  { path: '/replays', name: 'Replay jobs', key: 'j', needs: ['deliveries:read'] },
  { path: '/event-types', name: 'Event types', key: 't', needs: ['event-types:read'] },
  {
    path: '/messages',
    name: 'Messages',
    key: 'm',
    needs: ['messages:read', 'consents:read'],
    also: {
      inbound: ['messages:read'],
      channels: ['messages:read'],
      templates: ['messages:read'],
      people: ['consents:read'],
      dossiers: ['messages:read', 'consents:read'],
    },
  },
  { path: '/sagas', name: 'Sagas', key: 's', needs: ['sagas:read'] },
  { path: '/consumers', name: 'Consumers', key: 'u', needs: 'key' },
  { path: '/runs', name: 'Runs', key: 'r', needs: 'key' },
  { path: '/audit', name: 'Audit trail', key: 'a', needs: ['audit:read'] },
  { path: '/settings', name: 'Settings', key: 'c', needs: ['settings:read'] },
]

/** Whether a page may be shown. */
export function isAllowed({ needs }: Pick<PageOf, 'needs'>): boolean {
  return needs === 'key' ? hasKey() : needs.some(may)
}

/** The page to which a path belongs, by its first word. */
export function pageOf(word: string): PageOf | undefined {
  return pages.find(({ path, also = {} }) => path === `/${word}` || Object.hasOwn(also, word))
}

/** What a path needs, by its first word. */
export function needsOf(word: string): Needs {
  const page = pageOf(word)
  return page?.also?.[word] ?? page?.needs ?? []
}
