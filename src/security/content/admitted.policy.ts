import { AppError } from '../../errors/index.js';
import { type JsonValue } from '../../kernel/index.js';
import type { ContentFilter } from './content.filter.js';

/** User input in the form that may be stored and shown to a model. */
export interface Admitted<T extends JsonValue> {
  readonly value: T;
  /** Kinds of the masked content, if any. */
  readonly masked?: readonly string[];
}

/**
 * Admits user input, masked according to the filter.
 * @param what name of the input in the error: `query`
 * @throws AppError `INPUT_BLOCKED` naming the kinds of the findings, never their content
 */
export function admit<T extends JsonValue>(filter: ContentFilter | null, content: T, what: string): Admitted<T> {
  const filtered = filter?.json(content) ?? { kind: 'clean' };
  switch (filtered.kind) {
    case 'clean':
      return { value: content };
    case 'masked':
      // A mask changes strings only.
      return { value: filtered.value as T, masked: filtered.names };
    case 'blocked': {
      const message = `The ${what} was not taken: it holds ${filtered.names.join(', ')}. Leave that out and send it again.`;
      throw new AppError('INPUT_BLOCKED', message, { details: { found: filtered.names } });
    }
  }
}
