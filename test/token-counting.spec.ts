import { expect, it } from 'vitest';
import { Test } from '@nestjs/testing';
import { AppConfigModule } from '../src/config/index.js';
import { PersistenceModule } from '../src/persistence/index.js';
import { countMessages, LlmModule, TokenCounterRegistry } from '../src/llm/index.js';
import type { Message } from '../src/llm/chat/index.js';

const messages: Message[] = [
  { role: 'system', content: 'You are helpful.' },
  { role: 'user', content: 'hello world' },
];

it.each([
  ['auto', true],
  ['estimate', false],
])('messages are counted as TOKEN_COUNTING=%s requires', async (counting, isExact) => {
  const module = await Test.createTestingModule({
    imports: [
      AppConfigModule.forRoot({ TOKEN_COUNTING: counting, DATABASE_URL: 'sqlite::memory:' }),
      PersistenceModule.forRoot({ entities: [], migrations: [] }),
      LlmModule,
    ],
  }).compile();
  const counter = await module.get(TokenCounterRegistry).of('gpt-4o');
  expect(counter.isExact).toBe(isExact);
  const tokens = countMessages(counter, messages);
  // Each of the two messages has about four tokens of framing.
  expect(tokens).toBeGreaterThanOrEqual(14);
  expect(tokens).toBeLessThanOrEqual(isExact ? 14 : 20);
  await module.close();
});
