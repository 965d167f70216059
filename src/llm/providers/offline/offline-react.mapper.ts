import type { OfflineReply, TextDialect } from './offline-dialect.types.js';

const ACTION = /^Action:[ \t]*(\S+)/gm;
const FINAL = /^Final Answer:[ \t]*/m;
/** A parameter of a tool in the system text. */
const PARAMETER = /(\S+) \((\w+)?(?: \{[^\n]*?\})?, (required|optional)\)/g;
const OBSERVATION = /^Observation(?: \([^)\n]*\))?:[ \t]?/m;

/** ReAct: Thought, Action, Action Input, Observation, Final Answer. */
export const REACT_DIALECT: TextDialect = {
  marker: 'Action Input:',
  readParameters: (text) =>
    Array.from(text.matchAll(PARAMETER), ([, name = '', type = '', need]) => ({
      name,
      type,
      isRequired: need === 'required',
    })),
  readCalls: (reply) => Array.from(reply.matchAll(ACTION), ([, name = '']) => name),
  readAnswer: (reply) => {
    const found = FINAL.exec(reply);
    return found ? reply.slice(found.index + found[0].length) : reply;
  },
  readResults: (text) =>
    text
      .split(OBSERVATION)
      .slice(1)
      .map((result) => result.trimEnd()),
  write,
};

function write(reply: OfflineReply, isChinese: boolean): string {
  if (!('calls' in reply)) {
    const thought = isChinese ? '我可以回答了。' : 'I can answer now.';
    return `Thought: ${thought}\nFinal Answer: ${reply.text}`;
  }
  const names = [...new Set(reply.calls.map(({ tool }) => tool))].join(', ');
  const thought = isChinese ? `这需要工具 ${names}。` : `This needs ${names}.`;
  const actions = reply.calls.map(
    ({ tool, arguments: input }) => `Action: ${tool}\nAction Input: ${JSON.stringify(input)}`,
  );
  return [`Thought: ${thought}`, ...actions].join('\n');
}
