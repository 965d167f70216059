// Jackdaw as a peer of a side-by-side harness: it exports `create({ baseURL, dbFile })`, see bench/README.md.
// Every run is journaled in a SQLite file with synchronous=FULL, as by default.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createAgent, Tool } from 'jackdaw';

export const SYSTEM = 'You are a helpful assistant. Use the calculator when arithmetic is needed.';

/** A tiny recursive-descent calculator, so that every peer does the same work. */
export function calculate(expression) {
  let at = 0;
  const s = expression.replaceAll(' ', '');
  const factor = () => {
    if (s[at] === '-') return (at++, -factor());
    if (s[at] === '(') {
      at++;
      const value = sum();
      at++;
      return value;
    }
    const from = at;
    while (at < s.length && (s[at] === '.' || (s[at] >= '0' && s[at] <= '9'))) at++;
    return Number(s.slice(from, at));
  };
  const product = () => {
    let value = factor();
    while (s[at] === '*' || s[at] === '/') value = s[at++] === '*' ? value * factor() : value / factor();
    return value;
  };
  const sum = () => {
    let value = product();
    while (s[at] === '+' || s[at] === '-') value = s[at++] === '+' ? value + product() : value - product();
    return value;
  };
  return sum();
}

/** Plain JavaScript: the decorator is called as a function, so that no build step is needed. */
class CalculatorTools {
  calculator({ expression }) {
    return calculate(expression);
  }
}
export const CALCULATOR = {
  name: 'calculator',
  description: 'Evaluates an arithmetic expression and returns the number.',
  input: {
    type: 'object',
    properties: { expression: { type: 'string' } },
    required: ['expression'],
    additionalProperties: false,
  },
};
Tool({ ...CALCULATOR, effect: 'read' })(
  CalculatorTools.prototype,
  'calculator',
  Object.getOwnPropertyDescriptor(CalculatorTools.prototype, 'calculator'),
);

/** A session of turns of two messages. */
function toExport(id, messages) {
  const turns = messages.flatMap((_, at) =>
    at % 2 ? [] : [{ run_id: `${id}-${at}`, status: 'completed', created_at: 1, messages: messages.slice(at, at + 2) }],
  );
  return { version: 1, session: { id, owner: 'local', created_at: 1, updated_at: 1, metadata: {} }, turns };
}

/** @param more variables in addition to those of the measurement */
export async function create({ baseURL, dbFile }, more = {}) {
  const folder = dbFile ? dirname(dbFile) : mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
  if (!dbFile) process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const env = {
    LLM_PROVIDER: 'openai',
    LLM_OPENAI_API: 'chat',
    OPENAI_API_KEY: 'test',
    OPENAI_BASE_URL: baseURL,
    LLM_MODEL: 'mock-model',
    AGENT_MAX_ITERATIONS: '20',
    ...more,
  };
  const made = new Map();
  const agentWith = (name, tools, memory = {}) => {
    if (!made.has(name)) {
      const dataDir = join(folder, name);
      made.set(name, createAgent({ instructions: SYSTEM, tools, memory, config: { ...env, DATA_DIR: dataDir } }));
    }
    return made.get(name);
  };
  const plain = () => agentWith('plain', []);
  const remembering = () => agentWith('memory', [], { maxMessages: 1_000_000, maxContextTokens: 100_000_000 });
  const withTools = () => agentWith('tools', [CalculatorTools]);
  return {
    chat: async (prompt) => (await (await plain()).chat(prompt, { newSession: true })).content,
    agent: async (prompt) => (await (await withTools()).chat(prompt, { newSession: true })).content,
    async stream(prompt, onFirst) {
      let text = '';
      await (
        await plain()
      ).stream(
        prompt,
        (event) => {
          if (event.type !== 'message.delta') return;
          if (text === '') onFirst();
          text += event.text;
        },
        { newSession: true },
      );
      return text;
    },
    seed: async (session, messages) => (await remembering()).sessions.import(toExport(session, messages)),
    turn: async (session, prompt) => (await (await remembering()).chat(prompt, { sessionId: session })).content,
  };
}
