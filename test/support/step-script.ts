import type { FakeReply, FakeRequest } from './fake-llm.types.js';

/** How many steps the model takes before it answers. */
export const STEPS = 5;

/** A model that does the steps one after the other, from what the conversation shows: whoever asks, it goes on. */
export function stepByStep(tool: string) {
  return (request: FakeRequest): FakeReply => {
    const done = doneIn(request);
    return done < STEPS ? { calls: [{ name: tool, arguments: { step: done + 1 } }] } : { text: 'all done' };
  };
}

/** A model that wants one step done that a person must allow. */
export function approvedStep({ messages }: FakeRequest): FakeReply {
  if (messages.at(-1)?.role === 'tool') return { text: 'done' };
  return { calls: [{ id: 'c', name: 'approved_step', arguments: { step: 1 } }] };
}

/** How many steps a request shows as done. */
export function doneIn({ messages }: FakeRequest): number {
  return messages.filter(({ role }) => role === 'tool').length;
}
