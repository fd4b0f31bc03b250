/** What a list needs: a query, to which the cursor is added. */
interface ListInput {
  query?: Record<string, unknown>
}

interface Page {
  data: unknown[]
  nextCursor: string | null
}

/** Yields each item of a list. It reads the next page when the items of the last one are used. */
export async function* eachItem<Input extends ListInput>(
  readPage: (input: Input) => Promise<unknown>,
  // SAFETY: no list requires a parameter besides those that its type requires of the caller.
  input: Input = {} as Input,
): AsyncGenerator<unknown, void, undefined> {
  let cursor: string | null = null
  do {
    const query: Record<string, unknown> = cursor === null
      ? { ...input.query }
      : { ...input.query, cursor }
    // SAFETY: only lists are offered here, and openapi.json describes their pages.
    const page = await readPage({ ...input, query }) as Page
    yield* page.data
    cursor = page.nextCursor
  } while (cursor !== null)
}
