import type { Message, ToolCall } from '../chat/message.types.js';
import { READY } from './chat-check.registry.js';
import { user } from './probe-talk.js';
import { failed, notSupported, ok, type ProbeCheck } from './probe-check.js';
import { WEATHER } from './tool-check.registry.js';

const OSLO = 'How warm is it in Oslo?';

/** Checks of histories that sessions contain after failures, cancels, and turns of other models. */
export function historyChecks(hasTools: boolean): readonly ProbeCheck[] {
  return [
    historyCheck('after a failed turn', [user('How warm is it in Rome?')], false),
    ...(hasTools ? callHistoryChecks() : []),
    REASONING_CHECK,
  ];
}

function callHistoryChecks(): readonly ProbeCheck[] {
  const [oslo, rome] = [callOf('call_1', 'Oslo'), callOf('toolu_01A09q90qw90lq917835lq9', 'Rome')];
  return [
    historyCheck('after a cancelled call', [
      user(OSLO),
      { role: 'assistant', content: '', toolCalls: [oslo] },
      resultOf(oslo, 'Error: the call was cancelled.'),
    ]),
    historyCheck('turn of another model', [
      user(`${OSLO} And in Rome?`),
      {
        role: 'assistant',
        content: 'I look it up.',
        reasoning: 'Two calls are needed.',
        signedReasoning: {
          provider: 'another',
          model: 'another-model',
          blocks: [{ value: { type: 'thinking', thinking: 'Two calls.', signature: 'x' }, text: 0, calls: 0 }],
        },
        toolCalls: [oslo, rome],
      },
      resultOf(oslo, '17'),
      resultOf(rome, '24'),
      { role: 'assistant', content: '17 and 24 °C.' },
    ]),
  ];
}

function historyCheck(name: string, history: readonly Message[], hasTools = true): ProbeCheck {
  return {
    name,
    calls: 1,
    needsCalls: hasTools,
    run: async (talk) => {
      const messages = [...history, user(READY)];
      const { message } = await talk.ask({ messages, ...(hasTools && { tools: [WEATHER] }) });
      return message.content === '' && !message.toolCalls ? failed('the reply is empty') : ok();
    },
  };
}

function callOf(id: string, city: string): ToolCall {
  return { id, name: WEATHER.name, arguments: JSON.stringify({ city }) };
}

function resultOf({ id, name }: ToolCall, content: string): Message {
  return { role: 'tool', toolCallId: id, name, content };
}

const REASONING_CHECK: ProbeCheck = {
  name: 'reasoning',
  calls: 0,
  run: ({ replies }) => {
    const found = replies.find(
      ({ result: { message, usage } }) => message.reasoning ?? message.signedReasoning ?? usage?.reasoningTokens,
    );
    if (!found) return notSupported('the replies show no reasoning');
    const { message } = found.result;
    return ok(message.reasoning === undefined ? 'its text is not shown' : 'its text is shown');
  },
};
