/** Messages to the thread of a script. */
export type ScriptRequest =
  | {
      readonly kind: 'start';
      /** Body of an async function with the parameters `tools` and `console`. */
      readonly script: string;
      /** Names of the tools that it can call. */
      readonly tools: readonly string[];
      readonly limits: ScriptLimits;
    }
  /** The results of all calls of the last `calls`, in their order. */
  | { readonly kind: 'results'; readonly results: readonly ScriptResult[] };

/** Messages of the thread. After `calls` the script waits for their results; the others end it. */
export type ScriptReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'calls'; readonly calls: readonly ScriptCall[] }
  /** `value` is the returned value as JSON; absent if the script returned nothing. */
  | { readonly kind: 'returned'; readonly value?: string }
  | { readonly kind: 'failed'; readonly message: string };

export interface ScriptLimits {
  /** Maximum memory of the script's values, in bytes. */
  readonly memoryBytes: number;
  /** Maximum work of the script, in units of 10,000 operations: the same in each execution. */
  readonly steps: number;
  /** Maximum number of calls. */
  readonly calls: number;
  /** Maximum size of the arguments of a call and of the returned value, in UTF-16 units. */
  readonly valueChars: number;
}

/** A call of a tool. */
export interface ScriptCall {
  /** Counted from 1, in the order in which the script makes its calls. */
  readonly n: number;
  readonly tool: string;
  /** JSON. */
  readonly arguments: string;
}

/** Result of a call: its value as JSON, or the message of the error that the script gets. */
export type ScriptResult = { readonly value: string } | { readonly error: string; readonly code: string };
