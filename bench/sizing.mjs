// The resources of runs: CPU, memory and disk of the built server on one core, with a fake LLM that answers at once in another
// process.             node bench/sizing.mjs [--runs 2000]             PostgreSQL: TEST_POSTGRES_URL, by default on 127.0.0.1
import { statSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { cleanUp, cpuOf, HOST, memoryOf, startServer } from './loaded-server.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '2000' } } });
const RUNS = Number(values.runs);
const IN_FLIGHT = 32;
const POSTGRES = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const NAME = `jackdaw_sizing_${process.pid}`;
const ANSWER = 'The sum of these numbers is 42, as the calculator has confirmed. '.repeat(8).trim();
/** Runs with this number of calls of the calculator, one after another. */
const KINDS = [0, 1, 10];

/** Asks for the number of tool calls that the question names, then answers with 500 characters. */
const llm = createServer((incoming, response) => {
  let text = '';
  incoming.on('data', (piece) => (text += piece));
  incoming.on('end', () => {
    const { messages } = JSON.parse(text);
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    const wanted = Number(/\d+/.exec(messages[asked].content)?.[0] ?? 0);
    const done = messages.slice(asked).filter(({ role }) => role === 'tool').length;
    const call = { name: 'calculator', arguments: JSON.stringify({ expression: `${done} + 1` }) };
    const message =
      done < wanted
        ? { role: 'assistant', content: null, tool_calls: [{ id: `c${done}`, type: 'function', function: call }] }
        : { role: 'assistant', content: ANSWER };
    const choice = { index: 0, message, finish_reason: done < wanted ? 'tool_calls' : 'stop' };
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'x', created: 0, model: 'fake', choices: [choice], usage }));
  });
});
const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });

/** A chat in a session of its own. */
function chat(port, calls) {
  const body = JSON.stringify({ query: `Make ${calls} calls for me, please` });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const call = request({ host: HOST, port, path: '/api/agent/chat', method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', () => (response.statusCode === 200 ? resolve() : reject(response.statusCode)));
    });
    call.on('error', reject).end(body);
  });
}

async function chats(port, calls, count) {
  let left = count;
  const client = async () => {
    while (left-- > 0) await chat(port, calls);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
}

/** Bytes of the database of a stopped server. */
const PLACES = {
  SQLite: {
    env: () => ({}),
    bytes: ({ dataDir }) => statSync(join(dataDir, 'jackdaw.db')).size,
  },
  PostgreSQL: {
    create: (admin) => admin.query(`CREATE DATABASE ${NAME} TEMPLATE template0`),
    env: () => ({ DATABASE_URL: Object.assign(new URL(POSTGRES), { pathname: `/${NAME}` }).href }),
    bytes: async (_server, admin) => Number((await admin.query(`SELECT pg_database_size('${NAME}') AS n`)).rows[0].n),
    drop: (admin) => admin.query(`DROP DATABASE ${NAME} WITH (FORCE)`),
  },
};

/** Starts a server on an empty database, and stops it. @returns the resources that the runs took */
async function measure(place, admin, calls, count) {
  await place.create?.(admin);
  try {
    const server = await startServer({ port: llm.address().port }, place.env());
    const idle = memoryOf(server.pid, 'VmRSS');
    await chats(server.port, calls, Math.ceil(count / 4));
    const [cpu, start] = [cpuOf(server.pid), performance.now()];
    await chats(server.port, calls, count);
    const seconds = (performance.now() - start) / 1000;
    const used = cpuOf(server.pid) - cpu;
    const peak = memoryOf(server.pid, 'VmHWM');
    await server.end();
    const bytes = await place.bytes(server, admin);
    return { idle, peak, cpuMs: used / count, perSecond: count / seconds, bytes, runs: count + Math.ceil(count / 4) };
  } finally {
    await place.drop?.(admin);
  }
}

await new Promise((resolve) => llm.listen(0, HOST, resolve));
const admin = new Client(POSTGRES);
const hasPostgres = await admin.connect().then(
  () => true,
  () => false,
);
const rows = [];
for (const [name, place] of Object.entries(PLACES)) {
  if (name === 'PostgreSQL' && !hasPostgres) continue;
  const { bytes: empty } = await measure(place, admin, 0, 4);
  for (const calls of KINDS) {
    const found = await measure(place, admin, calls, Math.round(RUNS / (1 + calls / 2)));
    const disk = (found.bytes - empty) / found.runs / 1024;
    const title = `${name}, a chat with ${calls} tool calls`;
    const result = `${found.cpuMs.toFixed(1)} ms of CPU, ${Math.round(found.perSecond)}/s on one core, ${disk.toFixed(1)} KB of disk`;
    const memory = `RSS ${Math.round(found.idle)} MB idle, ${Math.round(found.peak)} MB at most`;
    console.log(`${title}: ${result}; ${memory}`);
    rows.push({ name: title, result: `${result}, ${memory}` });
  }
}
record('sizing', rows);
if (hasPostgres) await admin.end();
agent.destroy();
llm.close();
llm.closeAllConnections();
cleanUp();
