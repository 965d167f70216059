import { expect, it } from 'vitest';
import { MemoryCache } from '../../cache/index.js';
import {
  breaksOff,
  BreakingOffModel,
  busy,
  deadKey,
  down,
  fails,
  parts,
  refused,
  REQUEST,
} from '../../../test/support/faulty-models.js';
import { says, ScriptedChatModel, type Scripted } from '../../../test/support/scripted-chat-model.js';
import { ModelBudget, Reservation, type CallEnd } from '../budget/model-budget.js';
import type { CallAccount } from '../chat/chat.types.js';
import { BudgetedModel } from './budgeted-model.wrapper.js';
import { CachingModel } from './caching-model.wrapper.js';
import { RetryBudget, RetryingModel } from './retrying-model.wrapper.js';

const account = { tenant: 't', runId: 'r', sessionId: null, step: 'model:1' };

const REFUSED = '{"kind":"refused"}';
const broken = (said: string) => JSON.stringify({ kind: 'broken', said });

/** Records reservations and settlements. */
class NotedBudget extends ModelBudget {
  readonly isForAll = true;
  readonly noted: string[] = [];

  async reserve({ runId, step }: CallAccount): Promise<Reservation> {
    this.noted.push(`${runId}:${step}`);
    const { noted } = this;
    return new (class extends Reservation {
      async settle(end: CallEnd): Promise<void> {
        noted.push(end.kind === 'answered' ? end.result.message.content : JSON.stringify(end));
      }
    })();
  }

  async rebuild(): Promise<number> {
    return 0;
  }
}

function budgeted(script: readonly Scripted[]) {
  const budget = new NotedBudget();
  return { budget, model: new BudgetedModel(new ScriptedChatModel(script), budget, undefined) };
}

it('reserves before each attempt and settles its outcome', async () => {
  const { budget, model } = budgeted([down(), says('fine')]);
  const retrying = new RetryingModel(model, {
    maxAttempts: 2,
    baseDelayMs: 0,
    maxDelayMs: 0,
    budget: new RetryBudget(),
  });
  await retrying.generate(REQUEST, { account });
  expect(budget.noted).toEqual(['r:model:1', REFUSED, 'r:model:1', 'fine']);
});

it('settles a stream that is read to its end, and one that is not', async () => {
  const { budget, model } = budgeted([says('whole'), says('left')]);
  await parts(model, { account });
  for await (const part of model.stream(REQUEST, { account })) if (part.type === 'text') break;
  expect(budget.noted).toEqual(['r:model:1', 'whole', 'r:model:1', broken('lef')]);
});

it('reserves nothing for a call without account, an aborted call, or a cached reply', async () => {
  const { budget, model } = budgeted([says('free'), says('stored')]);
  await model.generate(REQUEST);
  await expect(model.generate(REQUEST, { account, signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow(
    'gone',
  );
  expect(budget.noted).toEqual([]);
  const caching = new CachingModel(model, new MemoryCache(60_000, 1_000_000));
  const request = { ...REQUEST, parameters: { temperature: 0 } };
  for (let call = 0; call < 2; call++) await caching.generate(request, { account, tenant: 't' });
  expect(budget.noted).toEqual(['r:model:1', 'stored']);
});

it.each<[string, Error, string]>([
  ['was never taken', fails('MODEL_UNREACHABLE'), REFUSED],
  ['was limited', busy(), REFUSED],
  ['was refused', refused(), REFUSED],
  ['found no key', deadKey(), REFUSED],
  ['broke on their side', down(), REFUSED],
  ['lasted too long', fails('MODEL_TIMEOUT'), broken('')],
  ['came back as nonsense', fails('MODEL_BAD_REPLY'), broken('')],
  ['was cancelled', fails('RUN_CANCELLED'), broken('')],
])('settles a call that %s', async (_what, failure, end) => {
  const { budget, model } = budgeted([failure, failure]);
  await expect(model.generate(REQUEST, { account })).rejects.toBe(failure);
  await expect(parts(model, { account })).rejects.toBe(failure);
  expect(budget.noted).toEqual(['r:model:1', end, 'r:model:1', end]);
});

it('settles the received text of a failed stream, whatever the error', async () => {
  const budget = new NotedBudget();
  const model = new BudgetedModel(new BreakingOffModel([breaksOff('half an ans')]), budget, undefined);
  await expect(parts(model, { account })).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
  expect(budget.noted).toEqual(['r:model:1', broken('half an ans')]);
});
