import { expect, it } from '@jest/globals';
import { MemoryCache } from '../../cache/index.js';
import { down, parts, REQUEST } from '../../../test/support/faulty-models.js';
import { says, ScriptedChatModel, type Scripted } from '../../../test/support/scripted-chat-model.js';
import { ModelBudget, Reservation } from '../budget/model-budget.js';
import type { CallAccount, ChatResult } from '../chat.types.js';
import { BudgetedModel } from './budgeted-model.wrapper.js';
import { CachingModel } from './caching-model.wrapper.js';
import { RetryingModel } from './retrying-model.wrapper.js';

const account = { tenant: 't', runId: 'r', sessionId: null, step: 'model:1' };

/** Notes what is reserved, and what is settled. */
class NotedBudget extends ModelBudget {
  readonly noted: string[] = [];

  async reserve({ runId, step }: CallAccount): Promise<Reservation> {
    this.noted.push(`${runId}:${step}`);
    const { noted } = this;
    return new (class extends Reservation {
      async settle(result: ChatResult | null): Promise<void> {
        noted.push(result ? result.message.content : 'failed');
      }
    })();
  }

  async rebuild(): Promise<void> {}
}

function budgeted(script: readonly Scripted[]) {
  const budget = new NotedBudget();
  return { budget, model: new BudgetedModel(new ScriptedChatModel(script), budget, undefined) };
}

it('reserves before each attempt and settles what became of it', async () => {
  const { budget, model } = budgeted([down(), says('fine')]);
  const retrying = new RetryingModel(model, { maxAttempts: 2, baseDelayMs: 0, maxDelayMs: 0 });
  await retrying.generate(REQUEST, { account });
  expect(budget.noted).toEqual(['r:model:1', 'failed', 'r:model:1', 'fine']);
});

it('settles a stream that is read to its end, and one that is not', async () => {
  const { budget, model } = budgeted([says('whole'), says('left')]);
  await parts(model, { account });
  for await (const part of model.stream(REQUEST, { account })) if (part.type === 'text') break;
  expect(budget.noted).toEqual(['r:model:1', 'whole', 'r:model:1', 'failed']);
});

it('reserves nothing for a call of nobody, for one that is aborted, and for a reply that was kept', async () => {
  const { budget, model } = budgeted([says('free'), says('kept')]);
  await model.generate(REQUEST);
  await expect(model.generate(REQUEST, { account, signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow(
    'gone',
  );
  expect(budget.noted).toEqual([]);
  const caching = new CachingModel(model, new MemoryCache(60_000, 1_000_000));
  const request = { ...REQUEST, parameters: { temperature: 0 } };
  for (let call = 0; call < 2; call++) await caching.generate(request, { account, tenant: 't' });
  expect(budget.noted).toEqual(['r:model:1', 'kept']);
});
