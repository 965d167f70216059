import type { JsonValue } from '../kernel/index.js';
import { admit, type ContentFilter } from '../security/index.js';

/** Applies content filters to the texts of one request, and collects the kinds of masked content. */
export class InputScreen {
  private readonly found = new Set<string>();

  constructor(private readonly filters: readonly (ContentFilter | null)[]) {}

  /** For the input of a run: the kinds of masked content, if any. */
  get masked(): { readonly masked?: readonly string[] } {
    return this.found.size > 0 ? { masked: [...this.found] } : {};
  }

  /** @param what name of the text in the error. @throws AppError `INPUT_BLOCKED` */
  admit<T extends JsonValue>(content: T, what: string, filters = this.filters): T {
    let admitted = content;
    for (const filter of filters) {
      const { value, masked = [] } = admit(filter, admitted, what);
      for (const kind of masked) this.found.add(kind);
      admitted = value;
    }
    return admitted;
  }
}
