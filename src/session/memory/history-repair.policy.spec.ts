import { describe, expect, it } from '@jest/globals';
import type { SessionMessage } from '../session.types.js';
import { LOST_RESULT, repairTurn, withoutBlanks } from './history-repair.policy.js';

const USER: SessionMessage = { role: 'user', content: 'go' };
const ANSWER: SessionMessage = { role: 'assistant', content: 'done' };
const calling = (...ids: string[]) => ({
  role: 'assistant' as const,
  content: '',
  toolCalls: ids.map((id) => ({ id, name: 'add', arguments: '{}' })),
});
const result = (toolCallId: string, content = 'ok'): SessionMessage => ({
  role: 'tool',
  toolCallId,
  name: 'add',
  content,
});

describe('a turn that came damaged', () => {
  it('stays as it is when it is whole, be ids used again', () => {
    const turn = [USER, calling('a', 'b'), result('b'), result('a'), calling('a'), result('a', 'again'), ANSWER];
    expect(repairTurn(turn)).toBe(turn);
  });

  it('gives each call the result that comes after it, and before another call of the same id', () => {
    const turn = [USER, calling('a'), ANSWER, calling('a', 'b'), result('a', 'second'), ANSWER, result('b')];
    expect(repairTurn(turn)).toEqual([
      USER,
      calling('a'),
      result('a', LOST_RESULT),
      ANSWER,
      calling('a', 'b'),
      result('a', 'second'),
      result('b'),
      ANSWER,
    ]);
  });

  it('leaves out results without a call, and calls that are there twice', () => {
    expect(repairTurn([result('a'), calling('a', 'a'), result('a', 'first'), result('a', 'second')])).toEqual([
      calling('a'),
      result('a', 'first'),
    ]);
  });
});

describe('what says nothing', () => {
  it('is left out, but for results and calls', () => {
    const blank: SessionMessage = { role: 'user', content: [{ type: 'text', text: ' ' }] };
    const half: SessionMessage = {
      role: 'user',
      content: [
        { type: 'text', text: '' },
        { type: 'text', text: 'x' },
      ],
    };
    expect(
      withoutBlanks([
        { role: 'system', content: '' },
        USER,
        { role: 'user', content: '\n\n' },
        { role: 'user', content: [] },
        blank,
        half,
        { ...calling('a'), content: ' \n' },
        result('a', ''),
        { role: 'assistant', content: '\u00a0' },
      ]),
    ).toEqual([USER, { role: 'user', content: [{ type: 'text', text: 'x' }] }, calling('a'), result('a', '')]);
  });
});
