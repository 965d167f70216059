import { describe, expect, it } from 'vitest';
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

describe('repairTurn()', () => {
  it('returns a complete turn unchanged, also with reused ids', () => {
    const turn = [USER, calling('a', 'b'), result('b'), result('a'), calling('a'), result('a', 'again'), ANSWER];
    expect(repairTurn(turn)).toBe(turn);
  });

  it('matches each call with its result before the next call with the same id', () => {
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

  it('drops results without a call, and duplicate calls', () => {
    expect(repairTurn([result('a'), calling('a', 'a'), result('a', 'first'), result('a', 'second')])).toEqual([
      calling('a'),
      result('a', 'first'),
    ]);
  });
});

describe('withoutBlanks()', () => {
  it('drops blank messages and parts, except results and calls', () => {
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
