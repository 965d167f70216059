/** A request to the read process. */
export interface SqliteRequest {
  readonly file: string;
  readonly sql: string;
  readonly parameters: readonly (string | number | boolean | null)[];
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** `isLast`: the read has changed process-wide settings; the process must not serve another read. */
export type SqliteReply = SqliteAnswer & { readonly isLast?: boolean };

/** The process's answer; `message` is for the model. */
export type SqliteAnswer =
  | {
      readonly kind: 'rows';
      readonly columns: readonly string[];
      readonly rows: readonly (readonly unknown[])[];
      readonly isCut: boolean;
    }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'too_large' };
