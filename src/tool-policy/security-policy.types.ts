import type { JsonSchema } from '../kernel/index.js';
import type { ContentRules } from '../security/index.js';
import type { TaintMode, TaintRule, ToolContext, ToolRule } from '../tool/index.js';

/** Validates the arguments of a call: `true`, or `false` or a reason to deny. A validator that throws denies. */
export type ArgumentValidator = (
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
) => boolean | string | Promise<boolean | string>;

/** Maximum calls in a window that starts with its first call. */
export interface CallLimit {
  /** Counter within a tenant: per tool, for all `tools` together, or for all `tools` per session. */
  readonly per: 'tool' | 'tenant' | 'session';
  /** By default all. */
  readonly tools?: readonly string[];
  /** By default 100; 0 means no limit. */
  readonly calls?: number;
  /** By default an hour. */
  readonly windowSeconds?: number;
}

/** Restrictions of all agents. Several policies are combined: the strictest decision applies. */
export interface SecurityPolicy {
  readonly tools?: readonly ToolRule[];
  /** JSON Schema or validator of the arguments, keyed by tool (`*` matches any characters). */
  readonly arguments?: Readonly<Record<string, JsonSchema | ArgumentValidator>>;
  /** By default 100 calls per hour of each tool in each tenant; `[]` means no limit. */
  readonly rateLimits?: readonly CallLimit[];
  /** Behaviour while the rate-limit store is unavailable; by default `deny`. */
  readonly whenUncounted?: 'deny' | 'allow';
  /** Content that is masked or blocked in user input, tool results and answers; by default none. */
  readonly content?: ContentRules;
  /** By default `approval`. */
  readonly taint?: TaintMode;
  /** Whether links and images are removed from the answers of runs with untrusted content. */
  readonly stripLinks?: boolean;
  /** When a call waits; by default `TAINT_RULE`. The strictest of all applies. */
  readonly taintRule?: TaintRule;
}
