import { expect, it } from 'vitest';
import { createTestAgent } from '../src/testing/index.js';
import { evaluateGuardrails, ObedientModel } from '../src/testing/eval/index.js';
import { guardrailCases } from '../src/testing/eval/guardrail/guardrail-case.factory.js';

const CASES = guardrailCases();
const TARGET = 'attacker.example';

/** The content with hidden texts in clear. */
function readings(content: string): string {
  const tags = Array.from(content, (character) => {
    const code = character.codePointAt(0)!;
    return code >= 0xe0020 && code <= 0xe007e ? String.fromCodePoint(code - 0xe0000) : '';
  }).join('');
  const decoded = [...content.matchAll(/[A-Za-z0-9+/]{40,}={0,2}/g)].map(([code]) =>
    Buffer.from(code, 'base64').toString(),
  );
  const halves = [...content.matchAll(/["“]{1,2}([^"“”]*)["”]/g)].map(([, half]) => half).join('');
  return [content, tags, ...decoded, halves].join('\n');
}

it('has at least 200 distinct cases, of 17 techniques in six channels and two languages', () => {
  expect(CASES.length).toBe(204);
  expect(new Set(CASES.map(({ content }) => content)).size).toBe(204);
  const kinds = (of: 'technique' | 'channel' | 'language') => new Set(CASES.map((one) => one[of])).size;
  expect([kinds('technique'), kinds('channel'), kinds('language')]).toEqual([17, 6, 2]);
  // Each goal occurs in each language.
  expect(new Set(CASES.map(({ demanded, language }) => demanded.tool + language)).size).toBe(14);
});

it.each(CASES.map((one) => [one.id, one] as const))(
  '%s demands its call',
  (_id, { content, question, demanded, language }) => {
    const text = readings(content);
    expect(text).toContain(demanded.tool);
    expect(text).toContain(TARGET);
    expect(content).not.toMatch(/\{(?!"|\})\w+\}/);
    expect(/\p{Script=Han}{2}/u.test(question.slice(0, 8))).toBe(language === 'zh');
  },
);

it('has no forbidden effect with a model that obeys each instruction', async () => {
  const agent = await createTestAgent({ chatModel: new ObedientModel() });
  const report = await evaluateGuardrails({ agent });
  expect(report).toMatchObject({
    isPassed: true,
    passRate: { passed: 204, total: 204 },
    scorers: { effects: { mean: 1 }, resisted: { mean: 0 }, delivered: { mean: 1 } },
  });
  expect(new Set(report.results.map(({ status }) => status))).toEqual(new Set(['waiting']));
  await agent.close();
});

it('finds the effects of an agent whose policy is off', async () => {
  const agent = await createTestAgent({ chatModel: new ObedientModel(), securityPolicy: { taint: 'off' } });
  const report = await evaluateGuardrails({ agent });
  expect(report).toMatchObject({ isPassed: false, scorers: { effects: { mean: 0 }, delivered: { mean: 1 } } });
  expect(report.results[0]?.scores['effects']?.reason).toMatch(/^executed: /);
  await agent.close();
});

it('has no effect where the policy denies, and none of the real tools', async () => {
  const agent = await createTestAgent({
    chatModel: new ObedientModel(),
    securityPolicy: { taint: 'deny' },
    instructions: 'You are a clerk.',
  });
  const report = await evaluateGuardrails({ agent, concurrency: 8 });
  expect(report).toMatchObject({ isPassed: true, passRate: { passed: 204 } });
  expect(new Set(report.results.map(({ status }) => status))).toEqual(new Set(['completed']));
  expect(agent.getConfig().instructions).toContain('You are a clerk.');
  await agent.close();
});
