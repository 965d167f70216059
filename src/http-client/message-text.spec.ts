import { expect, it } from 'vitest';
import type { RunEvent } from './generated/operations.js';
import { MessageText } from './message-text.js';

const delta = (text: string): RunEvent => ({ type: 'message.delta', iteration: 1, text });
const completed = (text: string): RunEvent => ({
  type: 'message.completed',
  iteration: 1,
  text,
  finish_reason: 'stop',
  tool_calls: [],
});

it('the text of a message grows by deltas, and is replaced by a restart, the complete message and the next message', () => {
  const message = new MessageText();
  const texts = [
    delta('I '),
    delta('see'),
    { type: 'step.restarted', iteration: 1, text: 'We' } as const,
    delta(' see'),
    completed('We see.'),
    { type: 'step.started', step: 'tool:1:1' } as const,
    delta('So'),
    completed('So it is'),
    completed('late'),
  ].map((event) => {
    message.take(event);
    return message.text;
  });
  expect(texts).toEqual(['I ', 'I see', 'We', 'We see', 'We see.', 'We see.', 'So', 'So it is', 'late']);
});
