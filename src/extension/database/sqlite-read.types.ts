/** What the reading process is asked. */
export interface SqliteRequest {
  readonly file: string;
  readonly sql: string;
  readonly parameters: readonly (string | number | boolean | null)[];
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** `isLast`: the read has left something in the process, which is to serve no other. */
export type SqliteReply = SqliteAnswer & { readonly isLast?: boolean };

/** What it answers; `message` is for a model. */
export type SqliteAnswer =
  | {
      readonly kind: 'rows';
      readonly columns: readonly string[];
      readonly rows: readonly (readonly unknown[])[];
      readonly isCut: boolean;
    }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'too_large' };
