import type { FakeReply } from './fake-llm.types.js';
import { WRITERS } from './protocol-writer.js';
import type { PlannedReply } from './talk-plan.js';

/** The reply of the fake; it hangs for a `stop`, which the caller handles. */
export function toFakeReply(planned: PlannedReply | undefined, protocol: keyof typeof WRITERS): FakeReply {
  const writer = WRITERS[protocol];
  switch (planned?.kind) {
    case undefined:
    case 'answer':
      return writer.answer(planned?.text.trim() || 'done');
    case 'calls': {
      const calls = planned.calls.map(({ name, id, text }) => ({ name, id, arguments: { text } }));
      return { ...(protocol === 'native' && { text: planned.text }), ...writer.calls(...calls) };
    }
    case 'cut':
      return { text: planned.text, finishReason: 'length' };
    case 'filtered':
      return { text: '', finishReason: 'content_filter' };
    case 'blank':
      return { text: ' ' };
    case 'error':
      return { status: 400, body: { error: { message: 'no' } } };
    case 'stop':
      return { hang: true };
  }
}
