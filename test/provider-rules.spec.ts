import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { renderCompatibility } from './support/compatibility-docs.js';
import { tableCells } from './support/markdown-table.js';
import { FakeLlm } from './support/fake-llm.js';
import { RULE_EXAMPLES } from './support/providers/rule-examples.js';
import { brokenRules, PROVIDER_NAMES, PROVIDER_RULES } from './support/providers/index.js';

describe.each(PROVIDER_RULES.map((rule) => [rule.id, rule] as const))(
  '%s',
  (id, { rule, source, check, providers }) => {
    const { rejected, accepted } = RULE_EXAMPLES[id] ?? { rejected: [], accepted: [] };

    it('is a sentence with a source', () => {
      expect(rule).toMatch(/^[A-Z].*\.$/);
      expect(new URL(source).protocol).toBe('https:');
    });

    it('rejects its examples with the status and the body of the provider', () => {
      expect(rejected).not.toHaveLength(0);
      for (const request of rejected) {
        const rejection = check(request);
        expect(rejection?.status).toBeGreaterThanOrEqual(400);
        expect(JSON.stringify(rejection?.body)).toMatch(/"message":/);
      }
    });

    it('accepts its counterexamples, as all other rules of its providers do', () => {
      expect(accepted).not.toHaveLength(0);
      for (const request of accepted) {
        for (const provider of providers) expect([request, brokenRules(provider, request)]).toEqual([request, []]);
      }
    });
  },
);

it('the ids of the rules are unique, and every provider has rules', () => {
  const ids = PROVIDER_RULES.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(PROVIDER_RULES.flatMap(({ providers }) => providers))).toEqual(new Set(PROVIDER_NAMES));
  expect(Object.keys(RULE_EXAMPLES).toSorted()).toEqual(ids.toSorted());
});

it('a strict fake rejects as the provider does, and answers the next request by its script', async () => {
  const llm = await FakeLlm.start({ strict: 'mistral' });
  llm.reply({ text: 'fine' });
  const send = (messages: readonly object[]) =>
    fetch(`${llm.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'mistral-small', messages }),
    });
  const user = { role: 'user', content: 'x' };
  const refused = await send([user, { role: 'assistant', content: '' }, user]);
  expect([refused.status, await refused.json()]).toEqual([
    400,
    {
      object: 'error',
      message: 'Assistant message must have either content or tool_calls, but not none.',
      type: 'invalid_request_error',
      param: null,
      code: '3240',
    },
  ]);
  expect(llm.broken.map(({ rule }) => rule)).toEqual(['mistral/empty-assistant']);
  expect((await send([user])).status).toBe(200);
  await llm.close();
});

it('docs/compatibility.md lists the rules', () => {
  const document = readFileSync('docs/compatibility.md', 'utf8');
  expect(tableCells(document)).toEqual(tableCells(renderCompatibility()));
});
