// A server of its own process that kills itself where it is told to: the compiled application, wrapped from outside, so
// that src/ knows nothing of it. CHAOS_POINT="intent.before:3" is the third time that it comes to this point;
// CHAOS_SABOTAGE breaks a promise on purpose, to see that the checks notice.
import { flushCompileCache } from 'node:module';
import { createApp } from '../../dist/bootstrap.js';
import { Database } from '../../dist/persistence/index.js';
import { placesOf } from './chaos-places.mjs';
import { reach } from './chaos-point.mjs';
import { ChaosTools } from './chaos-tools.mjs';
import { changeLoop } from './release.mjs';

const { CHAOS_WORLD = '', CHAOS_SABOTAGE, CHAOS_LOOP, CHAOS_LOOPS, PORT = '0' } = process.env;
/** How late a sabotaged journal writes what it has already confirmed, in ms. */
const LATE_MS = 30;

const app = await createApp({ tools: [ChaosTools] });
watchCommits(app.get(Database, { strict: false }));
watchReplies(app.getHttpAdapter().getInstance());
// Only now is it known what runs are executed by.
await app.init();
if (CHAOS_LOOP) changeLoop(app, Number(CHAOS_LOOP), CHAOS_LOOPS.split(',').map(Number));
await app.listen(Number(PORT), '127.0.0.1');
// The next start is quicker; one that is killed would not write it.
flushCompileCache();
process.stdout.write(`ready ${await app.getUrl()}\n`);

/** Every batch is a point before it is handed over, while it is under way, and when it is written and nobody knows yet. */
function watchCommits(database) {
  const commit = sabotaged(database.commit.bind(database));
  database.commit = async (batch, options) => {
    const places = placesOf(batch);
    for (const place of places) reach(`${place}.before`);
    const done = commit(batch, options);
    if (places.length > 0) setImmediate(() => places.forEach((place) => reach(`${place}.within`)));
    await done;
    for (const place of places) reach(`${place}.after`);
  };
}

function sabotaged(commit) {
  // An engine that does not know that it has begun something.
  if (CHAOS_SABOTAGE === 'intents')
    return (batch, options) =>
      commit(
        batch.filter((statement) => !placesOf([statement]).includes('intent')),
        options,
      );
  // One that says "done" before it is.
  if (CHAOS_SABOTAGE === 'durability')
    return async (batch) => void setTimeout(() => commit(batch).catch(() => undefined), LATE_MS);
  return commit;
}

/** Answers are acknowledged as a whole, streams event by event. */
function watchReplies(fastify) {
  fastify.addHook('onRequest', async (request, reply) => {
    // A port may be used again: a client that meant another server sees it by this.
    reply.header('x-chaos-world', CHAOS_WORLD);
    const write = reply.raw.write.bind(reply.raw);
    reply.raw.write = (chunk, ...rest) => {
      // What has a whole number for its id is in the journal, says the server.
      const isEvent = /^id: \d+\n/.test(String(chunk));
      if (isEvent) reach('event.before');
      const isFlushed = write(chunk, ...rest);
      if (isEvent) reach('event.after');
      return isFlushed;
    };
  });
  fastify.addHook('onSend', async (request, reply, payload) => {
    if (request.method === 'POST') reach('acknowledgement.before');
    return payload;
  });
  fastify.addHook('onResponse', async (request) => {
    if (request.method === 'POST') reach('acknowledgement.after');
  });
}
