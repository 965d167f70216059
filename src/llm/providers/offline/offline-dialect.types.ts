import type { OfflineCall, OfflineParameter } from './offline-rule.types.js';

/** An answer, or tool calls. */
export type OfflineReply = { readonly text: string } | { readonly calls: readonly OfflineCall[] };

/** Text format of calls, results and answers. */
export interface TextDialect {
  /** Text that identifies the dialect in the system text of a request. */
  readonly marker: string;
  /** The parameters in the description of one tool in the system text. */
  readParameters(text: string): OfflineParameter[];
  /** Names of the tools that an earlier reply called; empty for an answer. */
  readCalls(reply: string): string[];
  /** The answer in an earlier reply. */
  readAnswer(reply: string): string;
  /** The results, in the order of the calls. */
  readResults(text: string): string[];
  write(reply: OfflineReply, isChinese: boolean): string;
}
