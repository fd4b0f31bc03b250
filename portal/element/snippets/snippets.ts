import { go } from './go.ts'
import { java } from './java.ts'
import { javascript } from './javascript.ts'
import { php } from './php.ts'
import { python } from './python.ts'
import { ruby } from './ruby.ts'

/** A function that checks the signature of a request, in one language, without another library. */
export interface Snippet {
  language: string
  code: string
}

/** The same function in each language. All of them need the raw body. */
export const snippets: readonly Snippet[] = [
  { language: 'JavaScript', code: javascript },
  { language: 'Python', code: python },
  { language: 'Ruby', code: ruby },
  { language: 'PHP', code: php },
  { language: 'Go', code: go },
  { language: 'Java', code: java },
]
