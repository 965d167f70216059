// The cost of one more turn in a session of 100,000 messages and in one of 20, for each memory policy, by turns, on SQLite,
// PostgreSQL and MariaDB; the model answers at once.
// npm run build && node --expose-gc bench/sessions.mjs [--rounds 100] [--messages 100000] [--databases sqlite,postgres,mariadb]
// A message has about 100 tokens. The short session is a new one each time; the long one grows.
import { NestFactory } from '@nestjs/core';
import { parseArgs } from 'node:util';
import { AgentService, ChatModel, JackdawModule } from 'jackdaw';
import { onEach, SERVERS } from './databases.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    messages: { type: 'string', default: '100000' },
    databases: { type: 'string', default: 'sqlite,postgres,mariadb' },
    ...SERVERS,
  },
});
const { SessionAdminService, SessionService } = await import('../dist/session/index.js');
const { countTurn } = await import('../dist/session/memory/index.js');
const { Database } = await import('../dist/persistence/index.js');
const { TokenCounterRegistry } = await import('../dist/llm/index.js');

const ROUNDS = Number(values.rounds);
const LONG = Number(values.messages);
const SHORT = 20;
const WARM_UP = 20;
/** Turns that are stored in one commit. */
const AT_ONCE = 500;
const POLICIES = ['sliding_window', 'fixed_window', 'lru', 'token_budget', 'summary', 'off'];
const WHO = { id: 'local', tenant: 'default', roles: ['admin'] };
const TEXT = 'The quick brown fox jumps over the lazy dog, and a jackdaw looks on from the chimney. '.repeat(5);

class InstantModel extends ChatModel {
  provider = 'instant';
  name = 'instant';
  capabilities = { vision: false, functionCalling: true, jsonMode: false };
  seen = 0;

  async generate({ messages }) {
    this.seen = messages.length;
    const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
    return { message: { role: 'assistant', content: TEXT }, finishReason: 'stop', usage, model: 'instant' };
  }

  async *stream(request) {
    yield { type: 'finish', result: await this.generate(request) };
  }
}

const model = new InstantModel();
const agents = POLICIES.map((policy) => ({
  name: policy,
  model: { provider: 'instant' },
  memory: policy === 'off' ? { enabled: false } : { policy },
}));

/** Pins two turns. */
async function seed(context, id, messages) {
  const sessions = context.get(SessionService, { strict: false });
  const admin = context.get(SessionAdminService, { strict: false });
  const database = context.get(Database, { strict: false });
  const counter = await context.get(TokenCounterRegistry, { strict: false }).of(model.name);
  const said = [
    { role: 'user', content: TEXT },
    { role: 'assistant', content: TEXT },
  ];
  const turn = { status: 'completed', messages: said, ...countTurn(counter, said) };
  await database.commit([sessions.beginStatement(WHO, id)]);
  for (let last = 0; last < messages / 2; last += AT_ONCE) {
    const count = Math.min(AT_ONCE, messages / 2 - last);
    const batch = Array.from({ length: count }, (_, at) =>
      sessions.turnStatements(WHO, id, last + at, { ...turn, runId: `${id}-${last + at}` }),
    );
    await database.commit(batch.flat());
  }
  for (const pinned of [1, 5]) await admin.pin(WHO, id, pinned, true);
}

/** Stores the summary of the first turns, which the policy `summary` would have made earlier. */
async function sumUp(context, id, through) {
  const sessions = context.get(SessionService, { strict: false });
  const summary = { through, text: TEXT, tokens: 100 };
  await context.get(Database, { strict: false }).commit(sessions.summaryStatements(WHO, id, summary));
}

async function ask(context, agent, sessionId) {
  const from = performance.now();
  const answer = await context.get(AgentService, { strict: false }).chat(WHO, { agent, query: TEXT, sessionId });
  if (answer.status !== 'completed') throw new Error(JSON.stringify(answer.error));
  return performance.now() - from;
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const megabytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
const ms = (time) => `${time.toFixed(2)} ms`.padStart(10);

function heapUsed() {
  for (let i = 0; i < 3; i++) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** Measures one policy after the other, each with the long session and a short one by turns. */
async function measure(context, policy, shorts) {
  const times = { long: [], short: [] };
  const sees = {};
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const pair = [
      ['short', shorts.shift()],
      ['long', 'long'],
    ];
    for (const [which, session] of round % 2 === 0 ? pair : pair.toReversed()) {
      const time = await ask(context, policy, session);
      sees[which] = model.seen;
      if (round >= 0) times[which].push(time);
    }
  }
  return { long: median(times.long), short: median(times.short), sees };
}

const rows = [];
async function onDatabase(kind, url, folder) {
  const env = { DATABASE_URL: url, DATA_DIR: folder, LLM_PROVIDER: 'offline' };
  const module = JackdawModule.forRoot({ config: env, chatModel: model, agents, builtinTools: false });
  const context = await NestFactory.createApplicationContext(module, { logger: ['warn', 'error'] });
  const from = performance.now();
  await seed(context, 'long', LONG);
  const shorts = Array.from({ length: POLICIES.length * (ROUNDS + WARM_UP) }, (_, at) => `short-${at}`);
  for (const id of shorts) await seed(context, id, SHORT);
  console.log(`\n${kind}: ${LONG} messages stored in ${((performance.now() - from) / 1000).toFixed(1)} s`);
  await sumUp(context, 'long', LONG / 2 - SHORT / 2);
  for (let i = 0; i < WARM_UP; i++) await ask(context, 'sliding_window', shorts[i]);
  const before = heapUsed();
  for (const policy of ['summary', ...POLICIES.filter((one) => one !== 'summary')]) {
    const { long, short, sees } = await measure(context, policy, shorts);
    const ratio = (long / short).toFixed(2);
    const reference = `${ms(short).trim()}, after ${SHORT} messages`;
    const name = `a turn after ${LONG} messages, ${kind}, ${policy}`;
    rows.push({ name, result: ms(long).trim(), reference, ratio: long / short });
    console.log(
      `${policy.padEnd(15)} ${ms(short)} ${ms(long)}   ${ratio}   sees ${sees.short} and ${sees.long} messages`,
    );
  }
  const after = heapUsed();
  console.log(
    `heap ${megabytes(before)} before, ${megabytes(after)} after; RSS ${megabytes(process.memoryUsage.rss())}`,
  );
  await measureExport(context);
  await context.close();
}

async function measureExport(context) {
  const before = heapUsed();
  const from = performance.now();
  const exported = await context.get(SessionAdminService, { strict: false }).export(WHO, 'long');
  const time = performance.now() - from;
  const { length } = JSON.stringify(exported);
  const held = heapUsed() - before;
  console.log(
    `export in ${(time / 1000).toFixed(1)} s: ${exported.turns.length} turns, ${megabytes(length)} of JSON, ${megabytes(held)} of heap; RSS ${megabytes(process.memoryUsage.rss())}`,
  );
}

console.log(
  `Node ${process.version}, medians of ${ROUNDS} turns each: in a session of ${SHORT} messages, of ${LONG}, ratio`,
);
const wanted = values.databases.split(',');
await onEach(values, async (kind, url, folder) => {
  if (wanted.includes(kind)) await onDatabase(kind, url, folder);
});
record('sessions', rows);
