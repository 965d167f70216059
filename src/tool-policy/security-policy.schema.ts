import { z } from 'zod';
import { AppError, messageOf } from '../errors/index.js';
import type { JsonSchema } from '../kernel/json/index.js';
import { CONTENT_ACTIONS, type ContentRules, createFinders, type OwnPattern } from '../security/content/index.js';
import type { Guardrails, TaintMode, TaintRule, ToolRule } from '../tool/decision/index.js';
import { createBoundedCheck } from '../tool/input/index.js';
import type { ToolContext } from '../tool/method/index.js';

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

/** Maximum window, in s: seven days. */
const LONGEST_WINDOW_S = 604_800;

const names = z.array(z.string().regex(/\S/, 'must not be blank').max(256)).min(1).readonly().optional();

const callers = { tenants: names, principals: names, roles: names };
const toolRule = z
  .strictObject({ agents: names, ...callers, allow: names, deny: names })
  .refine(hasList, 'needs `allow` or `deny`');
const ownToolRule = z
  .strictObject({ ...callers, allow: names, deny: names })
  .refine(hasList, 'needs `allow` or `deny`');

const callLimit = z.strictObject({
  per: z.enum(['tool', 'tenant', 'session']),
  tools: names,
  calls: z.int().min(0).max(1_000_000_000).optional(),
  windowSeconds: z.int().min(1).max(LONGEST_WINDOW_S).optional(),
});

const action = z.enum(CONTENT_ACTIONS).optional();
const actions = { input: action, results: action, output: action };
const place = z.strictObject(actions).optional();

const ownPattern = z.strictObject({
  name: z.string().regex(/^[a-z0-9_-]{1,32}$/, 'must be 1 to 32 of a-z 0-9 _ -'),
  pattern: z.string().min(1).max(1000),
  ...actions,
});

const content = z.strictObject({
  secrets: place,
  cards: place,
  ids: place,
  emails: place,
  patterns: z
    .array(ownPattern)
    .max(100)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'two patterns have the same name')
    .readonly()
    .optional(),
});

const jsonSchema = z.custom<JsonSchema>().transform((given, context) => {
  const fault = schemaFault(given);
  if (fault === null) return given;
  context.addIssue(fault);
  return z.NEVER;
});
const validator = z.custom<ArgumentValidator>((given) => typeof given === 'function');

/** Schema of a policy file; unknown fields are rejected. */
export const policyFileSchema = policySchema(jsonSchema);
/** Schema of a policy in code, where functions may validate arguments. */
export const policyCodeSchema = policySchema(z.union([validator, jsonSchema]));

/** Schema of the guardrails in an agent's definition. */
export const guardrailsSchema = z.strictObject({
  tools: z.array(ownToolRule).readonly().optional(),
  arguments: z.record(z.string().regex(/\S/, 'must not be blank'), jsonSchema).optional(),
  content: content.superRefine(({ patterns = [] }, context) => refusePatterns(patterns, context)).optional(),
  // Without `off`, which would weaken the general policy.
  taint: z.enum(['approval', 'deny']).optional(),
  taintRule: z.enum(['facts', 'strict']).optional(),
  stripLinks: z.literal(true).optional(),
}) as z.ZodType<Guardrails, Guardrails>;

/** @throws AppError `CONFIG_INVALID` that lists all mistakes with their paths */
export function parsePolicy(given: unknown, schema: z.ZodType<SecurityPolicy>, source: string): SecurityPolicy {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const mistakes = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the policy'}: ${message}`);
  throw policyInvalid(source, mistakes);
}

/** @param source path of the policy file, or `securityPolicy` */
export function policyInvalid(source: string, mistakes: readonly string[], cause?: unknown): AppError {
  const count = mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`;
  const lines = [`The security policy ${source} has ${count}:`, ...mistakes.map((line) => `  ${line}`)];
  return new AppError('CONFIG_INVALID', lines.join('\n'), { details: { source, mistakes }, cause });
}

function policySchema(check: z.ZodType<JsonSchema | ArgumentValidator>): z.ZodType<SecurityPolicy> {
  return z.strictObject({
    tools: z.array(toolRule).readonly().optional(),
    arguments: z.record(z.string().regex(/\S/, 'must not be blank'), check).optional(),
    rateLimits: z.array(callLimit).readonly().optional(),
    whenUncounted: z.enum(['deny', 'allow']).optional(),
    content: content.optional(),
    taint: z.enum(['off', 'approval', 'deny']).optional(),
    taintRule: z.enum(['facts', 'strict']).optional(),
    stripLinks: z.boolean().optional(),
  }) as z.ZodType<SecurityPolicy>;
}

function hasList({ allow, deny }: { readonly allow?: unknown; readonly deny?: unknown }): boolean {
  return (allow ?? deny) !== undefined;
}

/** Checks patterns at definition time, so that an agent with an invalid one is rejected there. */
function refusePatterns(patterns: readonly OwnPattern[], context: z.core.$RefinementCtx): void {
  for (const [at, pattern] of patterns.entries()) {
    try {
      createFinders([pattern]);
    } catch (error) {
      context.addIssue({ code: 'custom', path: ['patterns', at], message: messageOf(error) });
    }
  }
}

function schemaFault(given: unknown): string | null {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return 'must be a JSON Schema, an object';
  try {
    createBoundedCheck(given as JsonSchema);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
