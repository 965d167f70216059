import { Logger } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { toolContext } from '../../../test/support/call-site.js';
import type { CheckedCall, Tool, ToolApproval, ToolContext } from '../tool.types.js';
import { decideCall } from './approval.policy.js';
import { type PolicyDecision, ToolPolicy, ToolPolicyRegistry } from './tool-policy.js';

Logger.overrideLogger(false);

const CONTEXT = toolContext({ principal: { id: 'p', tenant: 't', roles: ['boss'] } });

class Saying extends ToolPolicy {
  constructor(
    private readonly says: () => unknown,
    readonly name = 'saying',
  ) {
    super();
  }
  decide(): PolicyDecision {
    return this.says() as PolicyDecision;
  }
}

function callOf(approval?: ToolApproval): CheckedCall {
  const tool: Tool = {
    definition: { name: 'probe', description: 'For a test.', inputSchema: { type: 'object' } },
    metadata: { effect: 'read', source: 'Test.probe', ...(approval && { approval }), egress: false, untrusted: false },
    validate: (value) => ({ valid: true, value }),
    invoke: () => 1,
  };
  return { tool, input: { amount: 5 } };
}

function fails(): never {
  throw new Error('broken');
}

const ALLOW = () => 'allow';
const DENY = () => ({ deny: 'no' });
const APPROVE = () => ({ approve: 'look at it' });

describe('the decision about a call', () => {
  it.each<[string, ToolApproval | undefined, unknown]>([
    ['by default', undefined, 'allow'],
    ['never', 'never', 'allow'],
    ['always', 'always', { approve: expect.any(String) }],
    ['a predicate that says no', () => false, 'allow'],
    ['a predicate that says yes', () => true, { approve: expect.any(String) }],
    ['a predicate that says it later', () => Promise.resolve(true), { approve: expect.any(String) }],
    ['a predicate that throws', fails, { approve: expect.any(String) }],
    ['a predicate that rejects', () => Promise.reject(new Error('broken')), { approve: expect.any(String) }],
  ])('follows the approval of the tool: %s', async (_case, approval, expected) => {
    expect(await decideCall(callOf(approval), CONTEXT, [])).toEqual({ decision: expected, notes: [] });
  });

  it('is based on the checked input and the principal', async () => {
    const seen: unknown[] = [];
    const approval = (input: unknown, { principal }: ToolContext) => seen.push(input, principal.roles) > 2;
    expect(await decideCall(callOf(approval), CONTEXT, [])).toEqual({ decision: 'allow', notes: [] });
    expect(seen).toEqual([{ amount: 5 }, ['boss']]);
  });

  it.each<[string, ToolApproval, (() => unknown)[], unknown]>([
    ['all allow', 'never', [ALLOW, ALLOW], 'allow'],
    ['one wants approval', 'never', [ALLOW, APPROVE], { approve: 'look at it' }],
    ['one denies', 'always', [APPROVE, DENY, ALLOW], { deny: 'no' }],
    [
      'the tool wants approval, and they allow',
      'always',
      [ALLOW],
      { approve: expect.stringMatching(/needs approval/) },
    ],
    ['one allows later', 'never', [() => Promise.resolve('allow')], 'allow'],
    ['one throws', 'never', [fails], { deny: 'the policy "saying" could not decide' }],
    ['one rejects', 'never', [() => Promise.reject(new Error('x'))], { deny: expect.any(String) }],
    ['one says nothing', 'never', [() => undefined], { deny: expect.any(String) }],
    ['one says something else', 'never', [() => ({ allow: true })], { deny: expect.any(String) }],
    ['one gives no reason', 'never', [() => ({ deny: true, approve: 'x' })], { deny: expect.any(String) }],
  ])('is the strictest of all: %s', async (_case, approval, policies, expected) => {
    const all = policies.map((says) => new Saying(says));
    expect(await decideCall(callOf(approval), CONTEXT, all)).toMatchObject({ decision: expected });
  });
});

describe('the registry of policies', () => {
  it('retains their order and rejects a second policy of the same name', () => {
    const registry = new ToolPolicyRegistry();
    const [a, b] = [new Saying(ALLOW, 'a'), new Saying(DENY, 'b')];
    registry.register(a);
    registry.register(b);
    expect(registry.list()).toEqual([a, b]);
    expect(() => registry.register(new Saying(DENY, 'a'))).toThrow('Two tool policies are named "a"');
  });
});
