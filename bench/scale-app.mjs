// The application that bench/scale.mjs measures: an agent with a model that answers at once, and the runs that it copies.
import { NestFactory } from '@nestjs/core';
import { AgentService, ChatModel, JackdawModule, Tool } from '../dist/index.js';

const { AppError } = await import('../dist/errors/index.js');
const runs = await import('../dist/run/index.js');
const { SessionService } = await import('../dist/session/index.js');
const { countTurn } = await import('../dist/session/memory/index.js');
const { Database } = await import('../dist/persistence/index.js');
const { TokenCounterRegistry } = await import('../dist/llm/index.js');
const { UsageDayStore } = await import('../dist/run/usage/usage-day.store.js');

/** Days over which the stored runs are spread; runs older than a day more are pruned. */
export const DAYS = 100;
export const CHATS_A_SESSION = 10;
const LONG_TURNS = 100;
export const WHO = { id: 'local', tenant: 'default', roles: ['admin'] };
export const QUESTION =
  'Where is my order of last week, and when does it arrive? I need it before the weekend. '.repeat(2);
const ANSWER = 'Your order has left the warehouse, and arrives the day after tomorrow in the morning. '.repeat(6);

/** Answers; with `tool` or `pay` in the question after a call of that tool. Fails for `fail`. */
class InstantModel extends ChatModel {
  provider = 'instant';
  name = 'instant';
  capabilities = { vision: false, functionCalling: true, jsonMode: false };

  async generate({ messages }) {
    const last = messages.at(-1);
    const tool = last.role === 'user' ? /^(echo|pay)/.exec(last.content)?.[1] : undefined;
    if (last.role === 'user' && last.content.startsWith('fail'))
      throw new AppError('LLM_UNAVAILABLE', 'It is not available.');
    const toolCalls = [{ id: 'call_1', name: tool, arguments: JSON.stringify({ text: 'order 4711 of last week' }) }];
    return {
      message: tool ? { role: 'assistant', content: '', toolCalls } : { role: 'assistant', content: ANSWER },
      finishReason: tool ? 'tool_calls' : 'stop',
      usage: { promptTokens: 400, completionTokens: 100, totalTokens: 500 },
      model: 'instant',
    };
  }

  async *stream(request) {
    yield { type: 'finish', result: await this.generate(request) };
  }
}

class ShopTools {
  echo({ text }) {
    return { order: text, state: 'shipped', lines: [{ article: 'kettle', count: 1 }] };
  }
  pay() {
    return 'paid';
  }
}
const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const declare = (name, options) =>
  Tool({ name, description: 'Finds an order.', input, ...options })(
    ShopTools.prototype,
    name,
    Object.getOwnPropertyDescriptor(ShopTools.prototype, name),
  );
declare('echo', { effect: 'read' });
declare('pay', { effect: 'once', approval: 'always' });

export const start = async ({ url, folder }) => {
  const config = {
    DATABASE_URL: url,
    DATA_DIR: folder,
    LLM_PROVIDER: 'offline',
    LLM_MAX_RETRIES: '0',
    RUN_RETENTION_DAYS: String(DAYS + 1),
    USAGE_RETENTION_DAYS: '400',
  };
  const agentsOf = ['clerk', 'rare'].map((name) => ({ name, model: { provider: 'instant' } }));
  const module = JackdawModule.forRoot({
    config,
    chatModel: new InstantModel(),
    agents: agentsOf,
    tools: [ShopTools],
    builtinTools: false,
  });
  const context = await NestFactory.createApplicationContext(module, { logger: ['warn', 'error'] });
  const of = (token) => context.get(token, { strict: false });
  return {
    of,
    close: () => context.close(),
    chat: (request) => of(AgentService).chat(WHO, { agent: 'clerk', ...request }),
  };
};

/** Records the runs that are copied. */
export async function recordTemplates(app) {
  const recorded = async (query, sessionId) => {
    const { run_id, session_id, status } = await app.chat({ query: query + QUESTION, ...(sessionId && { sessionId }) });
    const { createdAt } = await app.of(runs.RunService).get(WHO, run_id);
    return { runId: run_id, sessionId: session_id, at: createdAt, status };
  };
  const chats = [];
  for (let n = 0; n < CHATS_A_SESSION; n++) chats.push(await recorded('echo ', chats[0]?.sessionId));
  const [failed, waiting] = [await recorded('fail '), await recorded('pay ')];
  const found = [...chats, failed, waiting].map(({ status }) => status).join();
  if (found !== `${'completed,'.repeat(CHATS_A_SESSION)}failed,waiting`) throw new Error(`recorded ${found}`);
  return { chats, failed, waiting };
}

/** Adds all calls to the daily sums, as the server does in the background. */
export async function sumUp(app) {
  const left = () => app.of(Database).query('SELECT run_id FROM run_usage WHERE unsummed = 1 LIMIT 1');
  while ((await left()).length > 0) await app.of(UsageDayStore).add(2_000);
}

/** A session of 200 messages. */
export async function seedLongSession(app) {
  const counter = await app.of(TokenCounterRegistry).of('instant');
  const said = [
    { role: 'user', content: QUESTION },
    { role: 'assistant', content: ANSWER },
  ];
  const turn = { status: 'completed', messages: said, ...countTurn(counter, said) };
  const sessions = app.of(SessionService);
  const turns = Array.from({ length: LONG_TURNS }, (_, at) =>
    sessions.turnStatements(WHO, 'long', at, { ...turn, runId: `long-${at}` }),
  );
  await app.of(Database).commit([sessions.beginStatement(WHO, 'long'), ...turns.flat()]);
}
