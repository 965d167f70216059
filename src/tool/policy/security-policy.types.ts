import type { JsonSchema } from '../../common/index.js';
import type { ContentRules } from '../../security/index.js';
import type { ToolContext } from '../tool.types.js';
import type { TaintMode, ToolRule } from './guardrails.types.js';

/** Says of a call's checked arguments whether they may be: `true`, or why not. One that throws denies. */
export type ArgumentValidator = (
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
) => boolean | string | Promise<boolean | string>;

/** So many calls in a window that begins with the first of them. */
export interface CallLimit {
  /** What is counted, in each tenant: each tool by itself, all of them together, or all of one session together. */
  readonly per: 'tool' | 'tenant' | 'session';
  /** By default all. */
  readonly tools?: readonly string[];
  /** By default 100; 0 is no limit. */
  readonly calls?: number;
  /** By default an hour. */
  readonly windowSeconds?: number;
}

/** What agents may do. Several policies hold together: the strictest counts. */
export interface SecurityPolicy {
  readonly tools?: readonly ToolRule[];
  /** By tool (`*` for any characters): a JSON Schema that the arguments hold to, or a function. */
  readonly arguments?: Readonly<Record<string, JsonSchema | ArgumentValidator>>;
  /** By default 100 calls an hour of each tool in each tenant; `[]` is no limit. */
  readonly rateLimits?: readonly CallLimit[];
  /** What becomes of a call that cannot be counted, as the store of counts does not answer; by default `deny`. */
  readonly whenUncounted?: 'deny' | 'allow';
  /** What is masked or stopped in what users say, tools give, and the model says; by default nothing. */
  readonly content?: ContentRules;
  /** By default `approval`. */
  readonly taint?: TaintMode;
}
