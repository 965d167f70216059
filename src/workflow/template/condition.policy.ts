import { canonicalJson, ExactInteger, type JsonValue } from '../../kernel/json/index.js';
import type { Condition } from '../definition/condition.schema.js';
import { compileTemplate, type Scope } from './template.parser.js';

/** A condition that can be evaluated. */
export interface CompiledCondition {
  /** Distinct roots of its placeholders. */
  readonly roots: readonly string[];
  holds(scope: Scope): boolean;
}

type Rule = (value: JsonValue, scope: Scope) => boolean;

/** @throws AppError `WORKFLOW_INVALID` */
export function compileCondition(condition: Condition): CompiledCondition {
  const value = compileTemplate(condition.value);
  const compared = [condition.equals, condition.notEquals, ...(condition.in ?? [])].flatMap((template) =>
    template === undefined ? [] : compileTemplate(template).roots,
  );
  const rules = rulesOf(condition);
  return {
    roots: [...new Set([...value.roots, ...compared])],
    holds: (scope) => {
      const seen = value.fill(scope);
      return rules.every((rule) => rule(seen, scope));
    },
  };
}

function rulesOf({ equals, notEquals, in: among, ...rest }: Condition): Rule[] {
  const { contains, greaterThan, lessThan, exists } = rest;
  const members = among?.map((one) => compileTemplate(one));
  const [same, other] = [equals, notEquals].map((one) => (one === undefined ? undefined : compileTemplate(one)));
  const rules: (Rule | undefined)[] = [
    same && ((value, scope) => isSame(value, same.fill(scope))),
    other && ((value, scope) => !isSame(value, other.fill(scope))),
    members && ((value, scope) => members.some((member) => isSame(value, member.fill(scope)))),
    contains === undefined ? undefined : (value) => hasIn(value, contains),
    greaterThan === undefined ? undefined : (value) => numberOf(value) > greaterThan,
    lessThan === undefined ? undefined : (value) => numberOf(value) < lessThan,
    exists === undefined ? undefined : (value) => isThere(value) === exists,
  ];
  return rules.filter((rule) => rule !== undefined);
}

/** The number of a value; `NaN`, which satisfies no comparison, for other types. */
function numberOf(value: JsonValue): number {
  if (value instanceof ExactInteger) return value.toNumber();
  return typeof value === 'number' ? value : Number.NaN;
}

/** Ignores case and surrounding whitespace, because models vary both in a requested word. */
function isSame(value: JsonValue, other: JsonValue): boolean {
  if (typeof value === 'string' && typeof other === 'string')
    return value.trim().toLowerCase() === other.trim().toLowerCase();
  return canonicalJson(value) === canonicalJson(other);
}

function hasIn(value: JsonValue, wanted: string): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(wanted.toLowerCase());
  return Array.isArray(value) && value.some((member) => isSame(member, wanted));
}

function isThere(value: JsonValue): boolean {
  if (value === null) return false;
  if (typeof value === 'string') return value.trim() !== '';
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
