import { AppError, type JsonValue } from '../../common/index.js';
import type { ContentFilter } from './content.filter.js';

/** What somebody says, as it may be kept and shown to a model. */
export interface Admitted<T extends JsonValue> {
  readonly value: T;
  /** What kinds of content were masked in it, if any. */
  readonly masked?: readonly string[];
}

/**
 * Lets in what somebody says, masked where the filter says so.
 * @param what names it in the error: `query`
 * @throws AppError `INPUT_BLOCKED` naming what kinds of content are in it, never the content
 */
export function admit<T extends JsonValue>(filter: ContentFilter | null, given: T, what: string): Admitted<T> {
  const filtered = filter?.json(given) ?? { kind: 'clean' };
  switch (filtered.kind) {
    case 'clean':
      return { value: given };
    case 'masked':
      // A mask changes texts only.
      return { value: filtered.value as T, masked: filtered.names };
    case 'blocked': {
      const message = `The ${what} was not taken: it holds ${filtered.names.join(', ')}. Leave that out and send it again.`;
      throw new AppError('INPUT_BLOCKED', message, { details: { found: filtered.names } });
    }
  }
}
