import { AppError } from '../errors/index.js';
import type { JsonSchema } from '../kernel/json/index.js';
import {
  classRule,
  CONTENT_CLASSES,
  CONTENT_PLACES,
  ContentFilter,
  createFinders,
  findLinks,
  type ContentAction,
  type ContentPlace,
  type ContentRule,
  type ContentRules,
  type Finder,
} from '../security/content/index.js';
import { anyPattern } from '../tool/index.js';
import type { TaintMode, TaintRule, ToolRule } from '../tool/decision/index.js';
import { createBoundedCheck } from '../tool/input/index.js';
import { type ArgumentValidator, policyInvalid, type SecurityPolicy } from './security-policy.schema.js';

type Matcher = (name: string) => boolean;

/** A rule with compiled patterns; absent parts are `null`. */
export type CompiledRule = { readonly [part in keyof ToolRule]-?: Matcher | null };

/** An argument check and the tools to which it applies. */
export interface CompiledCheck {
  readonly matches: Matcher;
  readonly check: ArgumentValidator;
}

/** A rate limit with its defaults applied. */
export interface CompiledLimit {
  readonly per: 'tool' | 'tenant' | 'session';
  readonly matches: Matcher;
  /** The tool patterns, as part of the counter's key. */
  readonly about: string;
  readonly calls: number;
  readonly windowMs: number;
  readonly whenUncounted: 'deny' | 'allow';
}

/** Several policies, combined and compiled. */
export interface CompiledPolicy {
  readonly rules: readonly CompiledRule[];
  readonly checks: readonly CompiledCheck[];
  readonly limits: readonly CompiledLimit[];
  /** `null` for a place without content rules. */
  readonly filters: Readonly<Record<ContentPlace, ContentFilter | null>>;
  /** The filter of `output` in a run with untrusted content. */
  readonly taintedOutput: ContentFilter | null;
  /** Masks in the log all that is masked or blocked in any place; `null` without such content. */
  readonly log: ContentFilter | null;
  readonly taint: TaintMode;
  readonly taintRule: TaintRule;
}

/** A content class or pattern, with its action per place. */
interface PlacedRule {
  readonly name: string;
  readonly find: Finder | null;
  readonly actions: Readonly<Partial<Record<ContentPlace, ContentAction>>>;
}

/** One policy, parsed; several can be combined. */
export interface PolicyParts extends Pick<CompiledPolicy, 'rules' | 'checks' | 'limits'> {
  readonly content: readonly PlacedRule[];
  readonly taint: TaintMode | null;
  readonly isStrict: boolean;
  readonly areLinksStripped: boolean;
}

/** A policy and its source, for messages. */
export interface SourcedPolicy {
  readonly source: string;
  readonly policy: SecurityPolicy;
}

const DEFAULT_CALLS = 100;
const DEFAULT_WINDOW_S = 3600;
const EVERYTHING = ['*'];

/** @throws AppError `CONFIG_INVALID` for invalid content patterns */
export function readParts(sourced: SourcedPolicy): PolicyParts {
  const { policy } = sourced;
  return {
    rules: (policy.tools ?? []).map(compileRule),
    checks: checksOf(policy),
    limits: limitsOf(policy),
    content: contentRulesOf(sourced),
    taint: policy.taint ?? null,
    isStrict: policy.taintRule === 'strict',
    areLinksStripped: policy.stripLinks === true,
  };
}

/** Combines policies: the strictest decision applies. @param rule that of the configuration */
export function combine(all: readonly PolicyParts[], rule: TaintRule = 'facts'): CompiledPolicy {
  const content = all.flatMap((parts) => parts.content);
  return {
    rules: all.flatMap(({ rules }) => rules),
    checks: all.flatMap(({ checks }) => checks),
    limits: all.flatMap(({ limits }) => limits),
    filters: filtersOf(content),
    taintedOutput: filterOf(
      all.some(({ areLinksStripped }) => areLinksStripped) ? [...content, linkRule()] : content,
      'output',
    ),
    log: logFilterOf(content),
    taint: strictest(all.flatMap(({ taint }) => taint ?? [])),
    taintRule: rule === 'strict' || all.some(({ isStrict }) => isStrict) ? 'strict' : 'facts',
  };
}

function compileRule({ agents, tenants, principals, roles, allow, deny }: ToolRule): CompiledRule {
  return {
    agents: matcher(agents),
    tenants: matcher(tenants),
    principals: matcher(principals),
    roles: matcher(roles),
    allow: matcher(allow),
    deny: matcher(deny),
  };
}

function matcher(patterns?: readonly string[]): Matcher | null {
  return patterns ? anyPattern(patterns) : null;
}

function checksOf(policy: SecurityPolicy): CompiledCheck[] {
  return Object.entries(policy.arguments ?? {}).map(([pattern, given]) => ({
    matches: anyPattern([pattern]),
    check: typeof given === 'function' ? given : schemaCheck(given),
  }));
}

function schemaCheck(schema: JsonSchema): ArgumentValidator {
  const check = createBoundedCheck(schema, 'arguments');
  return (args) => {
    const checked = check(args);
    return checked instanceof Promise ? checked.then(verdictOf) : verdictOf(checked);
  };
}

function verdictOf(
  checked: { readonly valid: true } | { readonly valid: false; readonly reason: string },
): true | string {
  return checked.valid || checked.reason;
}

function limitsOf({ rateLimits = [{ per: 'tool' }], whenUncounted = 'deny' }: SecurityPolicy): CompiledLimit[] {
  return rateLimits
    .map(({ per, tools = EVERYTHING, calls = DEFAULT_CALLS, windowSeconds = DEFAULT_WINDOW_S }) => ({
      per,
      matches: anyPattern(tools),
      about: tools.join(' '),
      calls,
      windowMs: windowSeconds * 1000,
      whenUncounted,
    }))
    .filter(({ calls }) => calls > 0);
}

function contentRulesOf({ source, policy }: SourcedPolicy): PlacedRule[] {
  const { patterns = [], ...classes }: ContentRules = policy.content ?? {};
  const known = CONTENT_CLASSES.map((name) => ({ name, find: null, actions: classes[name] ?? {} }));
  try {
    const finders = createFinders(patterns);
    return [...known, ...patterns.map(({ name, ...actions }, at) => ({ name, find: finders[at]!, actions }))];
  } catch (error) {
    const mistakes = error instanceof AppError ? (error.details?.['mistakes'] as readonly string[] | undefined) : null;
    throw mistakes ? policyInvalid(source, mistakes, error) : error;
  }
}

function filtersOf(rules: readonly PlacedRule[]): CompiledPolicy['filters'] {
  const filters = CONTENT_PLACES.map((place) => [place, filterOf(rules, place)] as const);
  return Object.fromEntries(filters) as CompiledPolicy['filters'];
}

function linkRule(): PlacedRule {
  return { name: 'links', find: findLinks, actions: { output: 'mask' } };
}

function logFilterOf(rules: readonly PlacedRule[]): ContentFilter | null {
  const used = rules.filter(({ actions }) => CONTENT_PLACES.some((place) => (actions[place] ?? 'off') !== 'off'));
  return filterOf(
    used.map(({ name, find }) => ({ name, find, actions: { output: 'mask' } })),
    'output',
  );
}

function filterOf(rules: readonly PlacedRule[], place: ContentPlace): ContentFilter | null {
  const classes = CONTENT_CLASSES.flatMap((name): ContentRule[] => {
    const wanted = rules
      .filter((rule) => rule.find === null && rule.name === name)
      .map(({ actions }) => actions[place]);
    if (wanted.includes('block')) return [classRule(name, 'block')];
    return wanted.includes('mask') ? [classRule(name, 'mask')] : [];
  });
  const own = rules.flatMap(({ name, find, actions: { [place]: action = 'off' } }): ContentRule[] =>
    find && action !== 'off' ? [{ name, find, action }] : [],
  );
  return classes.length + own.length === 0 ? null : new ContentFilter([...classes, ...own]);
}

function strictest(modes: readonly TaintMode[]): TaintMode {
  if (modes.includes('deny')) return 'deny';
  return modes.length === 0 || modes.includes('approval') ? 'approval' : 'off';
}
