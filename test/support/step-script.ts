import type { FakeReply, FakeRequest } from './fake-llm.types.js';

/** Number of steps before the model answers. */
export const STEPS = 5;

/** A model that does the steps in sequence, based on the conversation: it continues for every caller. */
export function stepByStep(tool: string) {
  return (request: FakeRequest): FakeReply => {
    const done = doneIn(request);
    return done < STEPS ? { calls: [{ name: tool, arguments: { step: done + 1 } }] } : { text: 'all done' };
  };
}

/** A model that requests one step that needs approval. */
export function approvedStep({ messages }: FakeRequest): FakeReply {
  if (messages.at(-1)?.role === 'tool') return { text: 'done' };
  return { calls: [{ id: 'c', name: 'approved_step', arguments: { step: 1 } }] };
}

/** Number of completed steps in a request. */
export function doneIn({ messages }: FakeRequest): number {
  return messages.filter(({ role }) => role === 'tool').length;
}
