import type { FakeMessage } from './fake-llm.types.js';

export interface WrittenCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Only function calling has ids. */
  readonly id?: string;
}

/** Writes calls and answers in the format of a protocol. */
export interface ProtocolWriter {
  calls(...calls: readonly WrittenCall[]): FakeMessage;
  answer(text: string): FakeMessage;
}

const NATIVE: ProtocolWriter = {
  calls: (...calls) => ({ calls }),
  answer: (text) => ({ text }),
};

const REACT: ProtocolWriter = {
  calls: (...calls) => ({
    text: `Thought: I need a tool.\n${calls.map(({ name, arguments: args }) => `Action: ${name}\nAction Input: ${JSON.stringify(args)}`).join('\n')}`,
  }),
  answer: (text) => ({ text: `Thought: I know now.\nFinal Answer: ${text}` }),
};

const XML: ProtocolWriter = {
  calls: (...calls) => ({
    text: `<function_calls>\n${calls.map(({ name, arguments: args }) => `<invoke name="${name}">\n${parameters(args)}</invoke>\n`).join('')}</function_calls>`,
  }),
  answer: (text) => ({ text }),
};

export const WRITERS = { native: NATIVE, react: REACT, xml: XML };

function parameters(args: WrittenCall['arguments']): string {
  return Object.entries(args)
    .map(
      ([name, value]) =>
        `<parameter name="${name}">${typeof value === 'string' ? value : JSON.stringify(value)}</parameter>\n`,
    )
    .join('');
}
