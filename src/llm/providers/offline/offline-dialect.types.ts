import type { OfflineCall } from './offline-rule.types.js';

/** What is to be said: an answer, or calls of tools. */
export type OfflineReply = { readonly text: string } | { readonly calls: readonly OfflineCall[] };

/** How calls, results and answers are written when they are text. */
export interface TextDialect {
  /** Stands in the system text of every request that is written so. */
  readonly marker: string;
  /** The names of the tools that an earlier reply called; empty when it was an answer. */
  readCalls(reply: string): string[];
  /** What an earlier reply answered. */
  readAnswer(reply: string): string;
  /** The results in the order of the calls. */
  readResults(text: string): string[];
  write(reply: OfflineReply, isChinese: boolean): string;
}
