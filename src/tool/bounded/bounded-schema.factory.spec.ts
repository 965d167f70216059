import { afterAll, describe, expect, it, vi } from 'vitest';
import type { JsonSchema } from '../../kernel/json/index.js';
import { createBoundedCheck, createBoundedInput } from '../input/schema-input.factory.js';
import { SchemaChecker, schemaChecker } from './schema-checker.js';
import { SchemaThread } from './schema-thread.client.js';

const TEXT = { type: 'string' };
const CATASTROPHIC = { properties: { a: { type: 'string', pattern: '^(?=a)(a+)+$' } } };
const LATE = { valid: false, isUndecided: true, reason: expect.stringContaining('took more than 2000 ms') };

afterAll(() => schemaChecker.release());

function referenceWeb(levels: number): JsonSchema {
  const $defs = Object.fromEntries(
    Array.from({ length: levels }, (_, at) => {
      const next = { $ref: `#/$defs/d${at + 1}` };
      return [`d${at}`, at === levels - 1 ? false : { anyOf: [next, next] }];
    }),
  );
  return { $ref: '#/$defs/d0', $defs };
}

describe('createBoundedCheck', () => {
  it.each<[string, JsonSchema, unknown]>([
    ['a pattern that RE2 rejects', CATASTROPHIC, { a: `${'a'.repeat(40)}!` }],
    ['a web of references', referenceWeb(40), {}],
  ])('abandons the check against %s, while the event loop answers others', async (_, schema, value) => {
    const events: string[] = [];
    const slow = Promise.resolve(createBoundedCheck(schema)(value)).then((result) => {
      events.push('slow');
      return result;
    });
    const other = Promise.resolve(createBoundedCheck({ type: 'string', pattern: '^a$' })('a'));
    setImmediate(() => events.push('immediate'));
    expect(await slow).toMatchObject(LATE);
    expect(await other).toEqual({ valid: true, value: 'a' });
    expect(events).toEqual(['immediate', 'slow']);
  });

  it.each<[string, JsonSchema, unknown]>([
    ['a pattern that RE2 runs', { type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}!`],
    [
      'unique items',
      { type: 'array', uniqueItems: true, items: { type: 'object' } },
      Array.from({ length: 100_000 }, (_item, n) => ({ n })),
    ],
    ['a plain schema for a large value', { type: 'array', items: TEXT }, Array.from({ length: 100_000 }, () => 1)],
  ])('does not occupy the event loop with %s', async (_, schema, value) => {
    const events: string[] = [];
    const check = Promise.resolve(createBoundedCheck(schema)(value)).then(() => events.push('checked'));
    setImmediate(() => events.push('immediate'));
    await check;
    expect(events).toEqual(['immediate', 'checked']);
  });

  it('checks a small value against a plain schema at once', () => {
    const check = createBoundedCheck({ type: 'object', properties: { a: { anyOf: [TEXT, { type: 'null' }] } } });
    expect(check({ a: null })).toEqual({ valid: true, value: { a: null } });
    expect(check({ a: 1 })).toMatchObject({ valid: false, reason: expect.stringContaining('"value.a"') });
  });

  it.each([
    ['^https\\:\\/\\/', 'https://x', 'ftp://x'],
    ['^[\\w\\.\\-]+\\-x$', 'a-x', 'a'],
    ['^(?P<year>\\d{4})$', '2026', 'abcd'],
    ['^(?<year>\\d{4})$', '2026', 'abcd'],
    ['^\\p{Script=Greek}+$', 'αβ', 'ab'],
    ['^a{2000}$', 'a'.repeat(2000), 'a'],
    ['^(a)\\1$', 'aa', 'a'],
    ['^\\-(?=x)', '-x', '-y'],
  ])('checks the pattern %s', async (pattern, valid, invalid) => {
    const check = createBoundedCheck({ type: 'string', pattern });
    expect(await check(valid)).toEqual({ valid: true, value: valid });
    expect(await check(invalid)).toMatchObject({ valid: false, reason: expect.stringContaining('must match pattern') });
  });

  it('leaves a pattern unchecked that is not a regular expression', async () => {
    const check = createBoundedCheck({ type: 'string', pattern: '(?<=a|(' });
    expect(await check('anything')).toEqual({ valid: true, value: 'anything' });
    expect(await check(1)).toMatchObject({ valid: false });
  });

  it.each<[string, JsonSchema, RegExp]>([
    ['too deep', nested(200), /nested more than 128 levels/],
    ['too large', { description: 'x'.repeat(600_000) }, /600018 bytes, and may have 524288/],
    ['too rich', { allOf: Array.from({ length: 30_000 }, () => ({})) }, /more than 20000 objects/],
    ['a reference to another document', { $ref: 'https://example.com/a.json' }, /can't resolve reference https/],
    ['a reference to a missing part', { $ref: '#/$defs/none' }, /can't resolve reference #\/\$defs\/none/],
    ['malformed', { type: 'no such' }, /not a JSON Schema that can be used/],
  ])('rejects a schema that is %s', (_, schema, message) => {
    expect(() => createBoundedCheck(schema)).toThrow(message);
  });

  it('answers for a schema that only the compiler finds unusable', async () => {
    const schema = { $id: 'urn:a', $ref: 'urn:b' };
    expect(await createBoundedCheck(schema)({})).toMatchObject({ isUndecided: true });
    expect(await createBoundedCheck({ $ref: '#' })({})).toMatchObject({ isUndecided: true });
  });

  it.each(['default', 'examples', 'const', 'enum'])('takes a reference in `%s` as data', (keyword) => {
    const data = { $ref: '#/$defs/none' };
    const schema = { [keyword]: ['examples', 'enum'].includes(keyword) ? [data] : data };
    expect(() => createBoundedCheck(schema)).not.toThrow();
    for (const named of ['properties', '$defs'])
      expect(() => createBoundedCheck({ [named]: { [keyword]: data } })).toThrow(/can't resolve reference/);
  });

  it('names the place and the value of an error in the thread', async () => {
    const schema = {
      type: 'object',
      properties: { list: { type: 'array', items: { $ref: '#/$defs/one' } } },
      $defs: { one: { type: 'object', properties: { a: TEXT }, additionalProperties: false } },
    };
    expect(await createBoundedCheck(schema, 'arguments')({ list: [{ a: 1 }, { b: 2 }] })).toMatchObject({
      valid: false,
      reason: '"arguments.list[0].a" must be string, got number; unknown argument "arguments.list[1].b" (known: a)',
    });
  });
});

describe('the threads', () => {
  /** Whether the first thread receives the next check, after checks that take long or not. */
  async function isFastAfter(checks: readonly ('quick' | 'slow')[]): Promise<boolean> {
    // A quick check is in time on a busy machine too, and a slow one is late on any.
    const checker = new SchemaChecker(1500, 1600);
    const check = (a: string) => checker.ask({ key: 'key', schema: CATASTROPHIC, checked: { value: { a } } });
    const asked = vi.spyOn(SchemaThread.prototype, 'ask');
    await check('a!');
    for (const kind of checks) await check(`${'a'.repeat(kind === 'slow' ? 60 : 1)}!`);
    const calls = asked.mock.calls.length;
    await check('a!');
    const [fast, next] = [asked.mock.contexts[0], asked.mock.contexts[calls]];
    asked.mockRestore();
    checker.release();
    return fast === next;
  }

  it('check a schema in the slow thread after two late checks in the fast one', async () => {
    expect(await isFastAfter(['slow'])).toBe(true);
    expect(await isFastAfter(['slow', 'slow', 'quick'])).toBe(false);
  });

  it('reset the number of late checks after one in time', async () => {
    expect(await isFastAfter(['slow', 'quick', 'slow'])).toBe(true);
  });
});

describe('createBoundedInput', () => {
  it('omits optional nulls, converts digits and adds no default in the thread', async () => {
    const input = createBoundedInput({
      type: 'object',
      properties: {
        code: { type: 'string', pattern: '^a', default: 'abc' },
        note: { type: 'string', pattern: '^b' },
        count: { type: 'integer' },
      },
    });
    expect(await input.validate({ note: null, count: '5' })).toEqual({ valid: true, value: { count: 5 } });
    expect(await input.validate({ code: 'x' })).toMatchObject({
      valid: false,
      reason: expect.stringContaining('"code"'),
    });
  });
});

function nested(levels: number): JsonSchema {
  return levels === 0 ? {} : { not: nested(levels - 1) };
}
