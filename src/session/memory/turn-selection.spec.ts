import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { anthropicFaults, openAiFaults } from '../../../test/support/history-rules.js';
import { countMessages } from '../../llm/index.js';
import { PINNED, type SessionMessage, type StoredTurn } from '../session.types.js';
import { MemoryPolicyRegistry } from './session-memory.js';
import type { MemoryPlace, MemoryRules } from './memory.types.js';
import { recollectPlace, toRanges } from './recollection.mapper.js';
import { textOf } from './turn-cut.mapper.js';
import { NOTHING_RESERVED, TurnSelection } from './turn-selection.js';
import { countTurn } from './turn-memory.js';

const counter = { isExact: false, count: (text: string) => Math.ceil(text.length / 3) };
const count = (messages: readonly SessionMessage[]) => countMessages(counter, messages);
const policies = new MemoryPolicyRegistry();
const RULES: MemoryRules = {
  enabled: true,
  policy: 'sliding_window',
  maxMessages: 200,
  maxContextTokens: 1000,
  includeToolCalls: true,
  keepFirst: 10,
};

const user = (content: string): SessionMessage => ({ role: 'user', content });
const answer = (content: string): SessionMessage => ({ role: 'assistant', content });
/** A message with calls and their results. */
const round = (id: string, ...results: readonly string[]): SessionMessage[] => [
  {
    role: 'assistant',
    content: '',
    toolCalls: results.map((_, at) => ({ id: `${id}_${at}`, name: 'look', arguments: '{}' })),
  },
  ...results.map((content, at): SessionMessage => ({ role: 'tool', toolCallId: `${id}_${at}`, name: 'look', content })),
];

function stored(...all: readonly (readonly SessionMessage[])[]): StoredTurn[] {
  return all.map((messages, at) => ({
    turn: at + 1,
    runId: `r${at}`,
    status: 'completed',
    messages,
    ...countTurn(counter, messages),
    mark: messages.some(({ role }) => role === 'system') ? PINNED : null,
    createdAt: 0,
  }));
}

function given(turns: readonly StoredTurn[], changes: Partial<MemoryRules> = {}) {
  const rules = { ...RULES, ...changes };
  const { maxMessages, maxContextTokens } = rules;
  const selection = new TurnSelection(rules, policies.get(rules.policy), count).select(turns, NOTHING_RESERVED);
  const { cuts, tokens } = selection;
  const place: MemoryPlace = {
    lastTurn: turns.length,
    messageCount: turns.reduce((sum, { messages }) => sum + messages.length, 0),
    given: { turns: toRanges(selection.turns), cuts, tokens, maxMessages, maxContextTokens },
  };
  const looked = recollectPlace(place, turns, rules);
  // A replay reads the place from the journal.
  const again = recollectPlace(JSON.parse(JSON.stringify(place)) as MemoryPlace, turns, rules);
  expect(again).toEqual(looked);
  return { ...looked, selection, texts: looked.messages.map((message) => textOf(message)) };
}

const words = (tokens: number) => 'lorem ipsum '.repeat(Math.ceil(tokens / 2));

describe('the newest turn', () => {
  it('contains the start and the end of long results', () => {
    const long = `START ${words(5000)} END`;
    const { messages, texts, state } = given(stored([user('q'), ...round('a', long), answer('done')]));
    expect(messages).toHaveLength(4);
    expect(texts[2]).toMatch(/^START lorem[^]*\n\[… \d+ characters omitted …\]\n[^]* END$/);
    expect(state.context_tokens).toBeLessThanOrEqual(1000);
    expect(state.context_tokens).toBeGreaterThan(900);
    expect(state.shortened).toEqual([
      { turn: 1, form: 'shortened', dropped_messages: 0, omitted_characters: expect.any(Number) },
    ]);
  });

  it('keeps its calls if shorter results suffice, else keeps at least its first and last round', () => {
    const rounds = (size: number, each: number) =>
      Array.from({ length: 8 }, (_, at) => round(`r${at}`, ...Array.from({ length: each }, () => words(size)))).flat();
    const few = given(stored([user('q'), ...rounds(300, 1), answer('done')]), { maxContextTokens: 1500 });
    expect(few.messages).toHaveLength(18);
    const many = given(stored([user('q'), ...rounds(300, 7), answer('done')]), { maxContextTokens: 4000 });
    const ids = many.messages.flatMap((one) => (one.role === 'tool' ? [one.toolCallId.split('_')[0]] : []));
    expect(ids).toContain('r0');
    expect(ids).toContain('r7');
    expect(many.texts.at(0)).toBe('q');
    expect(many.texts.at(-1)).toBe('done');
  });

  it('fits the message limit by dropping rounds, with whole results if they fit', () => {
    const rounds = Array.from({ length: 8 }, (_, at) => round(`r${at}`, 'a', 'b', 'c', 'd', 'e', 'f', 'g')).flat();
    const { messages, state } = given(stored([user('q'), ...rounds, answer('done')]), { maxMessages: 50 });
    expect(messages).toHaveLength(50);
    expect(state).toMatchObject({ dropped: 16, shortened: [{ dropped_messages: 16, omitted_characters: 0 }] });
  });

  it('keeps a long answer whole if a shorter question suffices', () => {
    const { texts } = given(stored([user(words(5000)), answer(words(300))]), { maxContextTokens: 1800 });
    expect(texts[0]).toContain('omitted');
    expect(texts[1]).toBe(words(300));
  });

  it('shortens question and answer alike when both are too long', () => {
    const { texts, state } = given(stored([user(words(9000)), answer(words(9000))]));
    expect(texts.every((text) => text.includes('omitted'))).toBe(true);
    expect(state.context_tokens).toBeGreaterThan(900);
  });

  it('drops reasoning and provider state with its rounds, and images before texts', () => {
    const signedReasoning = { provider: 'p', model: 'm', blocks: [] };
    const images = [{ type: 'image' as const, url: 'https://a.example/b.png' }];
    const [call, result] = round('a', 'shown') as [SessionMessage, SessionMessage];
    const turn = [
      user('q'),
      { ...call, reasoning: words(900), signedReasoning } as SessionMessage,
      { ...result, images } as SessionMessage,
      { ...answer('done'), reasoning: words(500), signedReasoning } as SessionMessage,
    ];
    expect(given(stored(turn)).messages).toEqual([user('q'), answer('done')]);
    const { messages } = given(stored(turn), { maxContextTokens: 2500 });
    expect(messages[2]).toEqual({ ...result, content: 'shown\n[1 image omitted]' });
    expect(messages[3]).toEqual(answer('done'));
  });

  it('keeps its last text when it ended without an answer', () => {
    const [call, result] = round('a', words(400)) as [SessionMessage, SessionMessage];
    const turn = [user('q'), { ...call, content: 'Let me look.', reasoning: words(2000) } as SessionMessage, result];
    expect(given(stored(turn)).messages).toEqual([user('q'), answer('Let me look.')]);
  });

  it('never splits a surrogate pair', () => {
    for (let tail = 0; tail < 4; tail++) {
      const { texts } = given(stored([user('😀'.repeat(9000) + 'x'.repeat(tail)), answer('ok')]));
      expect(texts[0]).not.toMatch(/\p{Surrogate}/u);
    }
  });
});

describe('older turns', () => {
  const big = (n: number) => [user(`q${n}`), ...round(`c${n}`, words(3000)), answer(`a${n}`)];
  const small = (n: number) => [user(`q${n}`), answer(`a${n}`)];

  it.each(['sliding_window', 'fixed_window', 'lru', 'token_budget', 'summary'])(
    'are reduced to question and answer if they do not fit whole: %s',
    (policy) => {
      const { texts, state } = given(stored(small(1), big(2), big(3), small(4)), { policy });
      expect(texts).toEqual(['q1', 'a1', 'q2', 'a2', 'q3', 'a3', 'q4', 'a4']);
      expect(state.shortened?.map(({ turn, form }) => [turn, form])).toEqual([
        [2, 'question_and_answer'],
        [3, 'question_and_answer'],
      ]);
    },
  );

  it('are dropped up to the newest one that does not fit; lru drops only that one', () => {
    const turns = stored(small(1), [user(words(3000)), answer('a2')], small(3), small(4));
    expect(given(turns).texts).toEqual(['q3', 'a3', 'q4', 'a4']);
    expect(given(turns, { policy: 'lru' }).texts).toEqual(['q1', 'a1', 'q3', 'a3', 'q4', 'a4']);
  });

  it('get the rest of the budget after a shortened newest turn', () => {
    const newest = [
      user('q2'),
      { ...answer(''), ...round('c', '')[0], reasoning: words(2000) } as SessionMessage,
      round('c', 'r')[1]!,
      answer('a2'),
    ];
    expect(given(stored(small(1), newest)).texts).toEqual(['q1', 'a1', 'q2', 'a2']);
  });
});

describe('the context of any session', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.integer({ min: 1, max: 40_000 }).map((length) => 'lorem ipsum '.repeat(length / 12 + 1)),
    fc.integer({ min: 1, max: 9000 }).map((length) => '文字'.repeat(length / 2)),
    fc.integer({ min: 1, max: 9000 }).map((length) => '😀'.repeat(length / 2)),
  );
  const image = { type: 'image' as const, url: 'https://a.example/b.png' };
  const question = fc.oneof(
    text.map(user),
    fc
      .tuple(fc.array(text, { maxLength: 3 }), fc.integer({ min: 0, max: 3 }))
      .map(([texts, images]): SessionMessage => ({
        role: 'user',
        content: [
          ...texts.map((one) => ({ type: 'text' as const, text: one })),
          ...Array.from({ length: images }, () => image),
        ],
      })),
  );
  const aRound = fc.record({
    said: text,
    results: fc.array(text, { minLength: 1, maxLength: 4 }),
    images: fc.integer({ min: 0, max: 2 }),
  });
  const turn = fc
    .record({
      system: fc.option(text, { freq: 8 }),
      question: fc.option(question, { freq: 8 }),
      rounds: fc.array(aRound, { maxLength: 6 }),
      more: fc.array(fc.oneof(text.map(user), text.map(answer)), { maxLength: 2 }),
      answer: fc.option(text, { freq: 4 }),
    })
    .map(({ system, question: asked, rounds, more, answer: said }): SessionMessage[] => [
      ...(system === null ? [] : [{ role: 'system' as const, content: system }]),
      ...(asked === null ? [] : [asked]),
      ...rounds.flatMap(({ said: content, results, images }, at) => {
        const [call, ...rest] = round(`c${at}`, ...results);
        return [
          { ...call, content } as SessionMessage,
          ...rest.map((one) =>
            images ? ({ ...one, images: Array.from({ length: images }, () => image) } as SessionMessage) : one,
          ),
        ];
      }),
      ...more,
      ...(said === null ? [] : [answer(said)]),
    ]);
  const rules = fc.record({
    policy: fc.constantFrom('sliding_window', 'fixed_window', 'lru', 'token_budget', 'summary'),
    maxMessages: fc.integer({ min: 2, max: 60 }),
    maxContextTokens: fc.integer({ min: 1000, max: 20_000 }),
    includeToolCalls: fc.boolean(),
    keepFirst: fc.integer({ min: 0, max: 12 }),
  });

  it('fits its budget, contains the newest turn and is valid for every provider', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 8 }), rules, (all, changes) => {
        const turns = stored(...all.filter((messages) => messages.length > 0).map(withOwnIds));
        const { messages, selection, state } = given(turns, changes);
        expect(count(messages)).toBeLessThanOrEqual(changes.maxContextTokens);
        expect(state.context_tokens).toBeLessThanOrEqual(changes.maxContextTokens);
        const mostMessages = changes.policy === 'token_budget' ? Infinity : changes.maxMessages + 1;
        expect(messages.length).toBeLessThanOrEqual(mostMessages);
        const sent = [...messages.map(toWire), { role: 'user', content: 'next' }];
        expect([...openAiFaults(sent), ...anthropicFaults(sent)]).toEqual([]);
        const speaking = turns.filter((one) => saysSomething(one, changes.includeToolCalls));
        expect(speaking.length === 0 || selection.seen.has(speaking.at(-1)!.turn)).toBe(true);
        // Repeating the selection gives the same result.
        expect(given(turns, changes).messages).toEqual(messages);
      }),
      { numRuns: 150 },
    );
  });
});

/** Whether a turn has content besides system messages, blanks and, unless included, calls. */
function saysSomething({ messages }: StoredTurn, includeToolCalls: boolean): boolean {
  return messages.some((message) => {
    if (message.role === 'system') return false;
    if (message.role === 'tool') return includeToolCalls;
    if (typeof message.content !== 'string' && message.content.some(({ type }) => type === 'image')) return true;
    return (
      textOf(message).trim() !== '' || (includeToolCalls && message.role === 'assistant' && Boolean(message.toolCalls))
    );
  });
}

/** A message in the format of chat completions. */
function toWire(message: SessionMessage) {
  const { role, content } = message;
  if (message.role === 'tool') return { role, content, tool_call_id: message.toolCallId };
  if (message.role !== 'assistant' || !message.toolCalls) return { role, content };
  const tool_calls = message.toolCalls.map(({ id, ...call }) => ({ id, type: 'function', function: call }));
  return { role, content: content === '' ? null : content, tool_calls };
}

/** Call ids may recur in a session; here each is made unique, as in a request. */
function withOwnIds(messages: readonly SessionMessage[], turn: number): SessionMessage[] {
  return messages.map((message): SessionMessage => {
    if (message.role === 'tool') return { ...message, toolCallId: `${turn}_${message.toolCallId}` };
    if (message.role !== 'assistant' || !message.toolCalls) return message;
    return { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, id: `${turn}_${call.id}` })) };
  });
}
