import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../common/index.js';
import type { Condition } from '../definition/condition.schema.js';
import { compileCondition } from './condition.policy.js';
import { compileTemplate, type Scope } from './template.parser.js';

const scope: Scope = { input: { n: 2, list: [1, { x: 'deep' }], text: 'a {{b}}' }, load: { result: null } };

function filled(template: JsonValue, given: Scope): JsonValue {
  return compileTemplate(template).fill(given);
}

describe('a template', () => {
  it.each<[JsonValue, JsonValue]>([
    ['{{input.n}}', 2],
    ['n is {{ input.n }}', 'n is 2'],
    ['{{input.list.1.x}}', 'deep'],
    ['{{input.list}}!', '[1,{"x":"deep"}]!'],
    ['{{input.nothing}}', null],
    ['<{{input.nothing.at.all}}>', '<>'],
    ['{{load.result}}', null],
    ['{{input.text}}', 'a {{b}}'],
    ['two braces: {{{{', 'two braces: {{'],
    [
      { a: ['{{input.n}}', 7], b: { c: '{{input.n}}{{input.n}}' } },
      { a: [2, 7], b: { c: '22' } },
    ],
    ['{{input.constructor}} {{input.list.length}}', ' '],
  ])('%j', (template, wanted) => {
    expect(filled(template, scope)).toEqual(wanted);
  });

  it('is never read twice: what a place holds stays as it is', () => {
    expect(filled('{{input.text}} {{input.n}}', scope)).toBe('a {{b}} 2');
  });

  it.each(['{{}}', '{{a b}}', '{{a.}}', '{{', 'x {{y', '{{1}}', '{{a["b"]}}'])('refuses %j', (template) => {
    expect(() => compileTemplate(template)).toThrow(expect.objectContaining({ code: 'WORKFLOW_INVALID' }));
  });
});

describe('a condition', () => {
  it.each<[Omit<Condition, 'value'>, JsonValue, boolean]>([
    [{ equals: 'Yes' }, ' yes\n', true],
    [{ equals: '{{input.n}}' }, 2, true],
    [{ equals: { a: 1, b: 2 } }, { b: 2, a: 1 }, true],
    [{ equals: '2' }, 2, false],
    [{ notEquals: 'no' }, 'NO', false],
    [{ in: ['a', '{{input.n}}'] }, 2, true],
    [{ contains: 'refund' }, 'A REFUND, please', true],
    [{ contains: 'x' }, ['X', 'y'], true],
    [{ contains: 'x' }, null, false],
    [{ greaterThan: 1, lessThan: 3 }, 2, true],
    [{ greaterThan: 1 }, '2', false],
    [{ exists: true }, [], false],
    [{ exists: false }, ' ', true],
    [{ exists: true }, 0, true],
  ])('%j of %j', (rules, value, holds) => {
    expect(compileCondition({ value: '{{it}}', ...rules }).holds({ ...scope, it: value })).toBe(holds);
  });
});
