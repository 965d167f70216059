import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SecurityPolicies } from './security-policies.registry.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-policy-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(content: unknown): string {
  const path = join(folder, 'policy.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('a policy file', () => {
  it('can be the example of the documentation', async () => {
    const [example] = /(?<=```json\n)[^`]*/.exec(readFileSync('docs/policies.md', 'utf8'))!;
    const { current } = await SecurityPolicies.open(file(example));
    expect([current.rules.length, current.checks.length, current.limits.length]).toEqual([3, 1, 2]);
    expect(current.filters.output?.text('ORD-123456')).toMatchObject({ kind: 'masked', value: '[order]' });
  });

  it('is rejected with every mistake and its place', async () => {
    const path = file({
      tools: [{ agents: ['a'] }, { allow: [] }],
      arguments: { x: { type: 'nonsense' }, y: 5 },
      rateLimits: [{ per: 'planet' }, { per: 'tool', calls: -1 }],
      content: { secrets: { input: 'hide' }, patterns: [{ name: 'A B', pattern: 'x' }] },
      taint: 'maybe',
      denied: ['x'],
    });
    const error: Error = await SecurityPolicies.open(path).then(
      () => new Error('it was taken'),
      (thrown: Error) => thrown,
    );
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(error.message).toContain(`The security policy ${path} has`);
    const places = ['tools.0', 'tools.1.allow', 'arguments.x', 'arguments.y', 'rateLimits.0.per', 'rateLimits.1.calls'];
    for (const place of [...places, 'content.secrets.input', 'content.patterns.0.name', 'taint', 'the policy']) {
      expect(error.message).toMatch(new RegExp(`^ {2}${place.replaceAll('.', '\\.')}: `, 'm'));
    }
    expect(error.message).toMatch(/"denied"/);
  });

  it('is rejected for a pattern that cannot be matched in linear time', async () => {
    const path = file({ content: { patterns: [{ name: 'look', pattern: '(?=x)y', output: 'mask' }] } });
    await expect(SecurityPolicies.open(path)).rejects.toThrow(`The security policy ${path} has a mistake`);
  });

  it.each([
    ['is not there', () => join(folder, 'nowhere.json')],
    ['is no JSON', () => file('{')],
  ])('is named in the error when it %s', async (_case, path) => {
    const at = path();
    await expect(SecurityPolicies.open(at)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(`${at} has a mistake:\n  cannot be read as JSON (SECURITY_POLICY_FILE)`),
    });
  });
});

describe('policies of file and code', () => {
  it('are combined, the strictest first, and the file policy remains when code sets another', async () => {
    const path = file({ taint: 'deny', rateLimits: [], content: { cards: { output: 'mask' } } });
    const policies = await SecurityPolicies.open(path, { taint: 'off', content: { cards: { output: 'block' } } });
    expect([policies.current.taint, policies.filter('output')?.isBlocking]).toEqual(['deny', true]);
    expect(policies.current.limits).toMatchObject([{ per: 'tool', calls: 100, windowMs: 3_600_000 }]);
    await policies.set({ rateLimits: [] });
    expect([policies.current.limits, policies.filter('output')?.isBlocking]).toEqual([[], false]);
    expect(policies.filter('input')).toBeNull();
  });

  it('may have functions in code, and are unchanged when the next policy is invalid', async () => {
    const policies = await SecurityPolicies.open(undefined, { taint: 'off', arguments: { x: () => true } });
    await expect(policies.set({ taint: 'what' as never })).rejects.toThrow(
      /securityPolicy has a mistake:\n {2}taint: /,
    );
    expect(policies.current).toMatchObject({ taint: 'off', checks: [expect.anything()] });
  });
});
