/** A value of an attribute; integers are sent as such. */
export type AttributeValue = string | number | boolean | readonly string[];

export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
}

/** A finished span. Times are epoch ms. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'client';
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** The code of the error of a failed operation. */
  readonly error?: string | undefined;
  readonly links?: readonly SpanLink[] | undefined;
  /** The run of the span, and the time of the journal's commit that it reports. */
  readonly source?: SpanSource;
}

export interface SpanSource {
  readonly runId: string;
  /** Epoch ms. */
  readonly at: number;
  /** Whether the run has ended with it. */
  readonly isLast: boolean;
}
