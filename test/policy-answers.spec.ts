import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContentRules } from '../src/security/content/index.js';
import { SecurityPolicies } from '../src/tool-policy/index.js';
import { callOf, decisionsIn, resultsIn } from './support/waiting-run.js';
import { choose, MODEL, pay, WaitingHost } from './support/waiting-host.js';

const GUARDED = { name: 'guarded', model: MODEL, guardrails: { content: { emails: { input: 'block' as const } } } };

let host: WaitingHost;
beforeAll(async () => {
  host = await WaitingHost.start([GUARDED]);
});
beforeEach(() => rule({ cards: { input: 'mask' }, secrets: { input: 'block' } }));
afterEach(() => host.reset());
afterAll(() => host.stop());

function rule(content: ContentRules): Promise<void> {
  return host.jackdaw.app.get(SecurityPolicies).set({ rateLimits: [], content });
}

/** Whether the database files contain the text. */
function isStored(text: string): boolean {
  const { dataDir } = host.jackdaw;
  return readdirSync(dataDir).some((name) => readFileSync(join(dataDir, name)).includes(text));
}

describe('an answer to a question of a tool', () => {
  it('is masked before it is stored, and the run reports the masking', async () => {
    const run = await host.ask(callOf('hurry', { text: 'x' }));
    const events = await run.after('input', { value: { 'pay with': ['5555 5555 5555 4444'] } });
    expect(decisionsIn(events)).toMatchObject([
      { request_id: 'input:1:1', decision: 'answered' },
      { policy: 'content', on: 'input', decision: 'masked', call_id: 'x', tool: 'hurry', found: ['cards'] },
    ]);
    const { body } = await host.jackdaw.get(`/api/runs/${run.id}/journal`);
    expect(JSON.stringify(body)).toContain('"pay with":["[cards]"]');
    expect(isStored('5555 5555 5555 4444')).toBe(false);
  });

  it('is refused with 422 when it is blocked, and the question stays open', async () => {
    const run = await host.ask(callOf('hurry', { text: 'x' }));
    const { status, body } = await run.decide('input', { value: 'sk-proj-aB3dE6gH9jK2mN5pQ8sT1vW4yZ7' });
    expect([status, body['code'], body['found']]).toEqual([422, 'INPUT_BLOCKED', ['secrets']]);
    expect(body['detail']).toMatch(/The answer was not taken: it holds secrets/);
    expect(isStored('sk-proj-aB3dE6gH9jK2')).toBe(false);
    expect(await run.requests()).toMatchObject([{ id: 'input:1:1' }]);
  });

  it('is refused when the masked answer does not fit the question', async () => {
    await rule({ patterns: [{ name: 'flights', pattern: 'KL\\d', input: 'mask' }] });
    const run = await host.ask(choose('Oslo'));
    const { status, body } = await run.decide('input', { value: 'KL2' });
    const message = 'with flights masked: "value" must be one of "LH1", "KL2", got "[flights]"';
    expect([status, body['errors']]).toEqual([400, [{ field: 'value', message, rule: 'enum', got: 'string' }]]);
  });

  it('is also checked by the guardrails of its agent', async () => {
    const run = await host.askAgent('guarded', callOf('hurry', { text: 'x' }));
    expect((await run.decide('input', { value: 'ask ann@secret.example' })).body['code']).toBe('INPUT_BLOCKED');
    const events = await run.after('input', { value: 'ask Ann' });
    expect(decisionsIn(events)).toMatchObject([{ decision: 'answered' }]);
  });
});

describe('the reason for a denial', () => {
  it('is masked for the model and the journal', async () => {
    const run = await host.ask(pay('bob'));
    const events = await run.after('deny', { reason: 'not with 4111 1111 1111 1111' });
    expect(decisionsIn(events)).toMatchObject([
      { decision: 'denied', reason: 'not with [cards]' },
      { policy: 'content', on: 'input', decision: 'masked', call_id: 'bob' },
    ]);
    expect(JSON.stringify(resultsIn(events))).toContain('not with [cards]');
    expect(host.shown('bob')).toContain('not with [cards]');
    expect(isStored('4111 1111 1111 1111')).toBe(false);
  });
});
