import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../kernel/json/index.js';
import type { Condition } from '../definition/condition.schema.js';
import { compileCondition } from './condition.policy.js';
import { isOptional } from './optional-field.policy.js';
import { compileTemplate, type MayOmit, type Scope } from './template.parser.js';

const scope: Scope = { input: { n: 2, list: [1, { x: 'deep' }], text: 'a {{b}}' }, load: { result: null } };
const keys: Scope = {
  x: {
    'first name': 'Ann',
    姓名: '张三',
    größe: 7,
    $ref: 'r',
    'x-y': 1,
    '@type': 'T',
    'xml:lang': 'de',
    'a.b': 'dotted',
    'a}}b': 'braces',
    'say "hi"': 'double',
    "it's": 'single',
    'a|b': 'pipe',
    '': 'empty',
    '0': 'zero',
    é: 'composed',
    '🙂': 'emoji',
    list: [{ 名: 'a' }],
  },
};

function filled(template: JsonValue, given: Scope, mayOmit?: MayOmit): JsonValue {
  return compileTemplate(template).fill(given, mayOmit);
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
  ])('is filled: %j', (template, wanted) => {
    expect(filled(template, scope)).toEqual(wanted);
  });

  it.each<[string, JsonValue]>([
    ['{{x.first name}}', 'Ann'],
    ['{{ x . first name }}', 'Ann'],
    ['{{x["first name"]}}', 'Ann'],
    ["{{x['first name']}}", 'Ann'],
    ['{{x.姓名}}', '张三'],
    ['Name: {{x.姓名}}, {{x.größe}}', 'Name: 张三, 7'],
    ['{{x.$ref}}', 'r'],
    ['{{x.x-y}}', 1],
    ['{{x.@type}}', 'T'],
    ['{{x.xml:lang}}', 'de'],
    ['{{x["a.b"]}}', 'dotted'],
    ['{{x["a}}b"]}}', 'braces'],
    ['{{x["say \\"hi\\""]}}', 'double'],
    ["{{x['it\\'s']}}", 'single'],
    ['{{x["it\'s"]}}', 'single'],
    ['{{x["a|b"]}}', 'pipe'],
    ['{{x[""]}}', 'empty'],
    ['{{x[0]}}', 'zero'],
    ['{{x.é}}', 'composed'],
    ['{{x.🙂}}', 'emoji'],
    ['{{x.list[0].名}}', 'a'],
    ['{{x.list.0["名"]}}', 'a'],
    ['{{x["\\u59d3\\u540d"]}}', '张三'],
    ['{{x["__proto__"]}}', null],
  ])('supports any key: %j', (template, wanted) => {
    expect(filled(template, keys)).toEqual(wanted);
  });

  it('omits optional fields without a value, and no others', () => {
    const template = {
      a: '{{input.none}}',
      b: { c: '{{input.none}}', d: '<{{input.none}}>' },
      e: ['{{input.none}}'],
      f: '{{load.result}}',
    };
    const mayOmit = (path: readonly string[], isNull: boolean) =>
      !isNull && ['a', 'b.c', 'e.0', 'f'].includes(path.join('.'));
    expect(filled(template, scope, mayOmit)).toEqual({ b: { d: '<>' }, e: [null], f: null });
    const all = filled({ f: '{{load.result}}', g: null }, scope, () => true);
    expect(all).toEqual({ g: null });
    expect(filled(template, scope)).toEqual({ a: null, b: { c: null, d: '<>' }, e: [null], f: null });
  });

  it('is filled once: an inserted value is not parsed again', () => {
    expect(filled('{{input.text}} {{input.n}}', scope)).toBe('a {{b}} 2');
  });

  it.each([
    '{{}}',
    '{{a b}}',
    '{{a.}}',
    '{{',
    'x {{y',
    '{{1}}',
    '{{a..b}}',
    '{{a[b]}}',
    '{{a["b]}}',
    '{{a["b"}}',
    '{{["a"]}}',
    '{{a.b | upper}}',
    '{{a.b + 1}}',
    '{{a.b - 1}}',
    '{{a.b ? 1 : 2}}',
    '{{f(a.b)}}',
    '{{a.b()}}',
    '{{a."b"}}',
    '{{a["\\q"]}}',
  ])('is refused as invalid: %j', (template) => {
    expect(() => compileTemplate(template)).toThrow(expect.objectContaining({ code: 'WORKFLOW_INVALID' }));
  });
});

describe('an optional field of a schema', () => {
  const name = { type: 'string' };
  const schema = {
    type: 'object',
    properties: {
      given: name,
      free: name,
      filter: { $ref: '#/$defs/Filter%7E1x' },
      list: { type: 'array', items: { properties: { free: name } } },
      either: { anyOf: [{ properties: { free: name } }] },
      self: { $ref: '#/properties/self' },
    },
    required: ['given'],
    $defs: { 'Filter/x': { properties: { given: name, free: name }, required: ['given'] } },
  };

  it.each([
    [['free'], true],
    [['given'], false],
    [['unknown'], false],
    [['constructor'], false],
    [['filter'], true],
    [['filter', 'free'], true],
    [['filter', 'given'], false],
    [['list', '0', 'free'], true],
    [['either', 'free'], false],
    [['self', 'free'], false],
  ])('is found by the path %j: %j', (path, wanted) => {
    expect(isOptional(schema, path)).toBe(wanted);
  });

  it.each([
    [{ type: 'string' }, true],
    [{ type: ['string', 'null'] }, false],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, false],
    [{ enum: ['a', null] }, false],
    [{ enum: ['a'] }, true],
    [{ const: 1 }, true],
    [{ $ref: '#/$defs/none' }, false],
    [{ description: 'any' }, false],
  ])('is omitted instead of null unless it accepts null: %j', (free, wanted) => {
    const root = { type: 'object', properties: { free }, $defs: { none: { type: 'null' } } };
    expect(isOptional(root, ['free'], true)).toBe(wanted);
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
  ])('evaluates %j for the value %j', (rules, value, holds) => {
    expect(compileCondition({ value: '{{it}}', ...rules }).holds({ ...scope, it: value })).toBe(holds);
  });
});
