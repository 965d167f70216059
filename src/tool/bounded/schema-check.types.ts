/** A check for the thread: without a schema if the thread may have compiled it before. */
export interface SchemaCheckRequest {
  /** Hash of the schema. */
  readonly key: string;
  /** A 2020-12 schema in the form for ajv. */
  readonly schema?: unknown;
  /** Absent to compile only. */
  readonly checked?: { readonly value: unknown };
}

/** An error of ajv in a form that can be sent between threads. */
export interface SentError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Record<string, unknown>;
  readonly message?: string;
  /** Of the schema with the keyword and its parts, only for an unknown property. */
  readonly properties?: readonly string[];
  /** Set if the invalid value is a property name. */
  readonly propertyName?: string;
}

export type SchemaCheckReply =
  | { readonly kind: 'ready' }
  /** The thread does not have the schema. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'unusable'; readonly message: string }
  | {
      readonly kind: 'checked';
      /** At most `MAX_ERRORS`; empty for a valid value. */
      readonly errors: readonly SentError[];
      /** Patterns of a newly compiled schema that are no regular expressions: they match every text. */
      readonly unchecked: readonly string[];
    };
