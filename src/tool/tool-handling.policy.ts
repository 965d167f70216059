import type { JsonSchema } from '../kernel/json/index.js';
import { statefulProblems, toStateful } from './stateful/stateful-options.policy.js';
import type { ToolHandling } from './tool-registration.types.js';
import type { ToolEffect, ToolMetadata } from './tool.types.js';

type Node = Readonly<Record<string, unknown>>;

/** Formats whose values have no room for other text. */
const CLOSED_FORMATS: ReadonlySet<unknown> = new Set(['date', 'date-time', 'time', 'uuid']);
/** Maximum length of a string that counts as short, in characters. */
const SHORT = 32;
/** Parts with schemas of the value itself or of values in it. */
const ALTERNATIVES = ['anyOf', 'oneOf'];
const NESTED = ['items', 'prefixItems', 'additionalProperties', 'patternProperties', 'unevaluatedProperties'];
const SCALARS: ReadonlySet<unknown> = new Set(['number', 'integer', 'boolean', 'null']);

/**
 * Whether arguments can contain free text: a string without `enum`, `const`, a closed format (`date`, `date-time`,
 * `time`, `uuid`) or a `maxLength` of at most 32, at any depth. A schema that does not limit its values, or refers to
 * another one, counts as free text.
 */
export function acceptsFreeText(schema: JsonSchema): boolean {
  return isFree(schema, true);
}

/** @param isArguments whether it is the object of all arguments, which is closed unless it says otherwise */
function isFree(schema: unknown, isArguments = false): boolean {
  if (typeof schema !== 'object' || schema === null) return schema !== false;
  const node = schema as Node;
  if ('enum' in node || 'const' in node) return false;
  const types = listOf(node['type'] ?? (isArguments || 'properties' in node ? 'object' : undefined));
  return types.length > 0 ? types.some((type) => isFreeOf(type, node, isArguments)) : isFreeUntyped(node);
}

/** Without a type, only other schemas limit the values; a reference may be anything. */
function isFreeUntyped(node: Node): boolean {
  const choices = ALTERNATIVES.flatMap((key) => listOf(node[key]));
  if (choices.length > 0) return choices.some((one) => isFree(one));
  // Each of the parts limits the value. Without parts it is any value.
  return listOf(node['allOf']).every((one) => isFree(one));
}

function isFreeOf(type: unknown, node: Node, isArguments: boolean): boolean {
  if (SCALARS.has(type)) return false;
  if (type === 'string') return !CLOSED_FORMATS.has(node['format']) && !isShort(node['maxLength']);
  if (type === 'array') return !('items' in node || 'prefixItems' in node) || hasFreePart(node);
  return isArguments || 'properties' in node || node['additionalProperties'] === false ? hasFreeProperty(node) : true;
}

function hasFreeProperty(node: Node): boolean {
  return Object.values(asNode(node['properties'])).some((one) => isFree(one)) || hasFreePart(node);
}

function hasFreePart(node: Node): boolean {
  return NESTED.some((key) => {
    const part = node[key];
    if (part === undefined || part === false) return false;
    if (key === 'patternProperties') return true;
    // Names of further properties are free text, too.
    if (key === 'additionalProperties' || key === 'unevaluatedProperties') return true;
    return listOf(part).some((one) => isFree(one));
  });
}

function isShort(maxLength: unknown): boolean {
  return typeof maxLength === 'number' && maxLength <= SHORT;
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function asNode(value: unknown): Node {
  return typeof value === 'object' && value !== null ? (value as Node) : {};
}

const EFFECTS: ReadonlySet<string> = new Set<ToolEffect>(['read', 'idempotent', 'once']);
/** Maximum delay of a Node.js timer (ms); a longer one fires immediately. */
const MAX_MS = 2 ** 31 - 1;
const MAX_RETRIES = 10;

/** Metadata of a tool: its author's settings and defaults. */
export function toMetadata(handling: ToolHandling, source: string, schema: JsonSchema): ToolMetadata {
  const {
    effect = 'once',
    timeoutMs,
    approval,
    retries,
    cacheTtlMs,
    concurrency,
    queueTimeoutMs,
    resources,
  } = handling;
  const state = toStateful(handling.stateful);
  const options = { timeoutMs, approval, cacheTtlMs, concurrency, queueTimeoutMs, resources, state };
  return {
    effect,
    source,
    egress: egressOf(handling, schema),
    ...(handling.egress === 'strict' && { isEgressIfStrict: true as const }),
    untrusted: handling.untrusted ?? false,
    private: handling.private ?? true,
    ...(retries && { retries }),
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
  };
}

/** An untrusted tool that accepts free text may carry out content that the model has read. */
function egressOf({ egress, effect = 'once', untrusted = false }: ToolHandling, schema: JsonSchema): boolean {
  if (typeof egress === 'boolean') return egress;
  return egress === undefined && (effect === 'once' || (untrusted && acceptsFreeText(schema)));
}

/** All mistakes in an author's settings, as clauses about the tool. */
export function handlingProblems(handling: ToolHandling): string[] {
  const {
    effect = 'once',
    timeoutMs,
    approval,
    retries,
    cacheTtlMs,
    concurrency,
    egress,
    untrusted,
    resources,
  } = handling;
  const problems: string[] = [];
  const refuse = (isWrong: boolean, what: string): void => void (isWrong && problems.push(what));
  refuse(!EFFECTS.has(effect), `its effect is ${JSON.stringify(effect)}: use "read", "idempotent" or "once"`);
  refuse(!isWhole(timeoutMs, 1, MAX_MS), `its timeoutMs is ${timeoutMs}: use whole milliseconds from 1 to ${MAX_MS}`);
  refuse(
    !isApproval(approval),
    `its approval is ${JSON.stringify(approval)}: use "never", "always", a function of (input, context), or { by: "another" or a list of roles, when? }`,
  );
  refuse(!isWhole(retries, 0, MAX_RETRIES), `its retries are ${retries}: use a whole number from 0 to ${MAX_RETRIES}`);
  refuse(Boolean(retries) && effect === 'once', 'it has retries, and a call with the effect "once" is never repeated');
  refuse(
    !isWhole(cacheTtlMs, 1, MAX_MS),
    `its cacheTtlMs is ${cacheTtlMs}: use whole milliseconds from 1 to ${MAX_MS}`,
  );
  refuse(
    cacheTtlMs !== undefined && effect !== 'read',
    'it has a cacheTtlMs, but only results of the effect "read" are cached',
  );
  refuse(!isWhole(concurrency, 1, MAX_MS), `its concurrency is ${concurrency}: use a whole number from 1 on`);
  problems.push(...queueProblems(handling));
  refuse(
    !isSwitch(egress) && egress !== 'strict',
    `its egress is ${JSON.stringify(egress)}: use true, false or "strict"`,
  );
  refuse(!isSwitch(untrusted), `its untrusted is ${JSON.stringify(untrusted)}: use true or false`);
  refuse(!isSwitch(handling.private), `its private is ${JSON.stringify(handling.private)}: use true or false`);
  refuse(
    cacheTtlMs !== undefined && toStateful(handling.stateful) !== undefined,
    'it has a cacheTtlMs and keeps state: a result from the cache would change none',
  );
  refuse(!isResources(resources), 'its resources are neither a list of names nor a function of (input)');
  return [...problems, ...statefulProblems(handling.stateful)];
}

function queueProblems({ queueTimeoutMs, concurrency, resources, stateful }: ToolHandling): string[] {
  if (!isWhole(queueTimeoutMs, 1, MAX_MS))
    return [`its queueTimeoutMs is ${queueTimeoutMs}: use whole milliseconds from 1 to ${MAX_MS}`];
  const hasQueue = concurrency !== undefined || resources !== undefined || toStateful(stateful) !== undefined;
  if (queueTimeoutMs === undefined || hasQueue) return [];
  return ['it has a queueTimeoutMs, and its calls never wait: give a concurrency or resources, or remove it'];
}

function isWhole(value: number | undefined, from: number, to: number): boolean {
  return value === undefined || (Number.isInteger(value) && value >= from && value <= to);
}

function isSwitch(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean';
}

function isApproval(approval: unknown): boolean {
  if (approval === undefined || approval === 'never') return true;
  if (typeof approval !== 'object' || approval === null) return isCondition(approval);
  const { by, when = 'always', ...others } = approval as Readonly<Record<string, unknown>>;
  return isApprovers(by) && isCondition(when) && Object.keys(others).length === 0;
}

function isCondition(when: unknown): boolean {
  return when === 'always' || typeof when === 'function';
}

function isApprovers(by: unknown): boolean {
  if (by === 'another') return true;
  return Array.isArray(by) && by.length > 0 && by.every((role) => typeof role === 'string' && role !== '');
}

function isResources(resources: unknown): boolean {
  if (resources === undefined || typeof resources === 'function') return true;
  return Array.isArray(resources) && resources.every((name) => typeof name === 'string' && name !== '');
}
