// A server in a process of its own that kills itself at a given point. It wraps the compiled application, so that
// src/ has no code for it. CHAOS_POINT="intent.before:3" is the third time that the process reaches this point;
// CHAOS_SABOTAGE breaks a guarantee on purpose, to verify that the checks detect it.
import { flushCompileCache } from 'node:module';
import { createApp } from '../../dist/server/bootstrap.js';
import { Database } from '../../dist/persistence/index.js';
import { placesOf } from './chaos-places.mjs';
import { reach } from './chaos-point.mjs';
import { ChaosTools } from './chaos-tools.mjs';
import { changeLoop } from './release.mjs';

const { CHAOS_WORLD = '', CHAOS_SABOTAGE, CHAOS_LOOP, CHAOS_LOOPS, PORT = '0' } = process.env;
/** Delay of a sabotaged journal between its confirmation and its write, in ms. */
const LATE_MS = 30;

const app = await createApp({ tools: [ChaosTools] });
watchCommits(app.get(Database, { strict: false }));
watchReplies(app.getHttpAdapter().getInstance());
// The executors of runs are known only here.
await app.init();
if (CHAOS_LOOP) changeLoop(app, Number(CHAOS_LOOP), CHAOS_LOOPS.split(',').map(Number));
await app.listen(Number(PORT), '127.0.0.1');
// Speeds up the next start; a killed process would not write it.
flushCompileCache();
process.stdout.write(`ready ${await app.getUrl()}\n`);

/** Every batch is a point before its commit, during it, and after it, when no caller knows of it yet. */
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
  // Sabotage: an engine without claims, which cannot detect a started call.
  if (CHAOS_SABOTAGE === 'intents')
    return (batch, options) =>
      commit(
        batch.filter((statement) => !placesOf([statement]).includes('intent')),
        options,
      );
  // Sabotage: a commit is confirmed before it is durable.
  if (CHAOS_SABOTAGE === 'durability')
    return async (batch) => void setTimeout(() => commit(batch).catch(() => undefined), LATE_MS);
  return commit;
}

/** Answers are acknowledged as a whole, streams event by event. */
function watchReplies(fastify) {
  fastify.addHook('onRequest', async (request, reply) => {
    // A port may be reused: with this header a client detects that it reached another server.
    reply.header('x-chaos-world', CHAOS_WORLD);
    const write = reply.raw.write.bind(reply.raw);
    reply.raw.write = (chunk, ...rest) => {
      // An event with an integer id is in the journal.
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
