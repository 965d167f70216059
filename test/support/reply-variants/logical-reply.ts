import { type Arbitrary, array, constant, constantFrom, integer, oneof, record, string, tuple } from 'fast-check';

/** A tool call that every variant transports; the arguments of `now` are empty. */
export interface LogicalCall {
  readonly name: 'now' | 'note' | 'add';
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The meaning of a reply, independent of its form on the wire. */
export interface LogicalReply {
  readonly text: string;
  /** Empty if the model did not reason. */
  readonly reasoning: string;
  readonly calls: readonly LogicalCall[];
  /** Tokens of the prompt and of the completion. */
  readonly usage: readonly [number, number];
}

/** Without space at the ends, which a `<think>` block cannot transport, and without markup at the start. */
const words = string({ unit: 'grapheme', maxLength: 24 })
  .map((text) => text.trim())
  .filter((text) => !/^[<`]/.test(text));

const anyArguments = record({
  text: string({ unit: 'grapheme', maxLength: 12 }),
  list: array(record({ n: integer(), deep: constantFrom('}', '{"', '\\', '') }), { maxLength: 2 }),
});

const call: Arbitrary<LogicalCall> = oneof(
  anyArguments.map((args) => ({ name: 'note' as const, arguments: args })),
  tuple(integer(), integer()).map(([a, b]) => ({ name: 'add' as const, arguments: { a, b } })),
  constant({ name: 'now' as const, arguments: {} }),
);

/** At most one call of `now`: two calls without arguments, index and id are one call on the wire. */
const calls = array(call, { minLength: 1, maxLength: 4 }).filter(
  (all) => all.filter(({ name }) => name === 'now').length < 2,
);

const usage = tuple(integer({ min: 1, max: 5_000 }), integer({ min: 1, max: 5_000 }));

/** A reply with calls, with or without text. */
export const callingReply: Arbitrary<LogicalReply> = record({ text: words, reasoning: words, calls, usage });

/** An answer: a text without calls. */
export const answerReply: Arbitrary<LogicalReply> = record({
  text: words.map((text) => `It is ${text}.`),
  reasoning: words,
  calls: constant([]),
  usage,
});

export const logicalReply: Arbitrary<LogicalReply> = oneof(callingReply, answerReply);
