import { describe, expect, it } from 'vitest';
import { agentDefinitionSchema, parseStoredDefinition, withTools } from './agent-definition.schema.js';
import { selectionOf } from '../offered-tools.service.js';

const AGENT = { name: 'a', model: { provider: 'openai' } };

/** Field and message of each fault; empty when the definition is valid. */
function mistakes(more: object): string[] {
  const { error } = agentDefinitionSchema.safeParse({ ...AGENT, ...more });
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

function selection(more: object): readonly string[] | '*' {
  return selectionOf(withTools(agentDefinitionSchema.parse({ ...AGENT, ...more })));
}

describe('an agent definition', () => {
  it.each<[string, object, string]>([
    ['blank instructions', { instructions: ' \n' }, 'instructions: must not be blank'],
    ['a blank provider', { model: { provider: ' ' } }, 'model.provider: must not be blank'],
    ['a blank model', { model: { provider: 'openai', name: '' } }, 'model.name: must not be blank'],
    [
      'a blank fallback',
      { model: { provider: 'openai', fallback: [{ provider: ' ' }] } },
      'model.fallback.0.provider: ',
    ],
    ['a blank tool', { tools: ['a', ' '] }, 'tools.1: must not be blank'],
    ['a blank agent', { subAgents: [''] }, 'subAgents.0: must not be blank'],
    ['a blank server', { mcpServers: [{ name: ' ' }] }, 'mcpServers.0.name: must not be blank'],
    ['a blank name of a server', { mcpServers: [''] }, 'mcpServers.0.name: must not be blank'],
    ['a server twice', { mcpServers: ['web', { name: 'web' }] }, 'mcpServers: must name each server once'],
    ['a blank approval', { approvals: [' '] }, 'approvals.0: must not be blank'],
    ['a blank protocol', { protocol: '' }, 'protocol: must not be blank'],
    ['a blank memory policy', { memory: { policy: ' ' } }, 'memory.policy: must not be blank'],
    ['an empty budget', { budgets: { run: {} } }, 'budgets.run: must have tokens, cost, or both'],
    ['a fractional token count', { budgets: { day: { tokens: 0.5 } } }, 'budgets.day.tokens: '],
    ['an unknown budget', { budgets: { week: { tokens: 1 } } }, 'budgets: Unrecognized key: "week"'],
    ['a guardrail that weakens the policy', { guardrails: { taint: 'off' } }, 'guardrails.taint: '],
    ['rate limits', { guardrails: { rateLimits: [] } }, 'guardrails: Unrecognized key: "rateLimits"'],
    [
      'a rule for other agents',
      { guardrails: { tools: [{ agents: ['b'], deny: ['x'] }] } },
      'guardrails.tools.0: Unrecognized key',
    ],
    [
      'a rule without allow or deny',
      { guardrails: { tools: [{ roles: ['x'] }] } },
      'guardrails.tools.0: needs `allow` or `deny`',
    ],
    ['an invalid JSON Schema', { guardrails: { arguments: { x: { type: 'no' } } } }, 'guardrails.arguments.x: '],
    [
      'a pattern that RE2 rejects',
      { guardrails: { content: { patterns: [{ name: 'x', pattern: '(?=a)', input: 'mask' }] } } },
      'guardrails.content.patterns.0: content.patterns "x"',
    ],
  ])('is refused with %s', (_case, more, expected) => {
    expect(mistakes(more)).toEqual([expect.stringContaining(expected)]);
  });

  it.each<[string, object, readonly string[] | '*']>([
    ['no tool list and no server', {}, '*'],
    ['a server without a tool list', { mcpServers: ['web'] }, ['web__*']],
    ['a disabled server without a tool list', { mcpServers: [{ name: 'web', enabled: false }] }, ['*', '!web__*']],
    ['a tool list and a server', { tools: ['a'], mcpServers: [{ name: 'web' }] }, ['a', 'web__*']],
    ['all tools and a server', { tools: '*', mcpServers: ['web'] }, ['*', 'web__*']],
    ['an empty tool list', { tools: [] }, []],
  ])('selects the tools of %s', (_case, more, expected) => {
    expect(selection(more)).toEqual(expected);
  });
});

describe('a stored definition', () => {
  it('is read with the defaults of missing fields', () => {
    const old = { ...AGENT, description: '', instructions: 'x', tools: '*', protocol: 'native', limits: {} };
    expect(parseStoredDefinition(JSON.stringify(old))).toMatchObject({
      ...old,
      subAgents: [],
      handoffs: [],
      mcpServers: [],
      approvals: [],
      waiting: { onDenied: 'continue' },
      memory: { policy: 'sliding_window' },
    });
  });

  it('is read unchanged', () => {
    const whole = withTools(
      agentDefinitionSchema.parse({
        ...AGENT,
        mcpServers: ['web'],
        approvals: ['x_*'],
        budgets: { run: { tokens: 5 } },
        guardrails: { content: { cards: { input: 'mask' } }, arguments: { x: { type: 'object' } } },
      }),
    );
    expect(parseStoredDefinition(JSON.stringify(whole))).toEqual(whole);
  });
});
