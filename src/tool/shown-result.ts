/** Text of a result for the model, where it differs from the value. */
export interface ShownText {
  /** A line before the text, such as headers of a reply. */
  readonly note?: string;
  /** Text in place of the value. */
  readonly text?: string;
}

/** A tool result with a text for the model. Workflows, output schemas and clients get the value only. */
export class ShownResult {
  constructor(
    readonly result: unknown,
    readonly shown: ShownText,
  ) {}
}
