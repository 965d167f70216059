import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { EventStream, SseEvent } from './support/event-stream.js';
import { FoldingClient } from './support/folding-client.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { PacedChatModel, type PacedReply } from './support/paced-chat-model.js';
import { TestTools } from './support/test.tool.js';

const DOUBLE = [{ id: 'c', name: 'double', arguments: '{"n":1}' }];

let model: PacedChatModel;
let jackdaw: Jackdaw;
beforeAll(async () => {
  model = new PacedChatModel();
  jackdaw = await startJackdaw({ tools: [new TestTools()], options: { chatModel: model } });
});
afterAll(() => jackdaw.stop());

interface Chat {
  readonly stream: EventStream;
  readonly runId: string;
  readonly reply: PacedReply;
}

async function ask(): Promise<Chat> {
  const stream = await jackdaw.stream({ query: 'go' });
  return { stream, runId: String(stream.headers['x-run-id']), reply: await model.next() };
}

function fold(events: readonly SseEvent[], client = new FoldingClient()): FoldingClient {
  for (const { id, place, data } of events) client.take({ id: place, n: id, event: data });
  return client;
}

/** Waits until the last event of a client completes this text. */
async function waitForText(stream: EventStream, text: string): Promise<void> {
  for (let count = 1; fold(stream.events).text !== text; count++) await stream.waitFor('message.delta', count);
}

function journaled(events: readonly SseEvent[]): SseEvent[] {
  return events.filter(({ id }) => id !== null);
}

describe('a client that follows a run during a message', () => {
  it('resumes at the exact character from each position that a client can have reached', async () => {
    const { stream, runId, reply } = await ask();
    for (const piece of ['Grüß ', 'Gott, ', '🐦', '真的']) reply.say(piece);
    await waitForText(stream, 'Grüß Gott, 🐦真的');
    const places = stream.events.flatMap(({ place, event }) => (event === 'message.delta' ? [place!] : []));
    expect(places.map((place) => place.split('.')[0])).toEqual(['1', '1', '1', '1']);
    expect(places.map((place) => Number(place.split('.')[2]))).toEqual([5, 11, 13, 15]);
    expect(new Set(places.map((place) => place.split('.')[1])).size).toBe(1);

    const late = await Promise.all(places.map((place) => jackdaw.follow(runId, place)));
    const fresh = await Promise.all([jackdaw.follow(runId), jackdaw.follow(runId, 1)]);
    await fresh[0].waitFor('message.delta');
    reply.say('!');
    reply.finish();
    const all = await stream.all();
    for (const [i, follower] of late.entries()) {
      const place = places[i]!;
      const seen = all.slice(0, all.findIndex((event) => event.place === place) + 1);
      const client = fold(await follower.all(), fold(seen));
      expect(client.messages).toEqual([{ text: 'Grüß Gott, 🐦真的!', received: 'Grüß Gott, 🐦真的!' }]);
      expect(journaled(follower.events)).toEqual(journaled(all).slice(1));
      expect(follower.events.filter(({ event }) => event === 'message.delta').length).toBeLessThanOrEqual(2);
    }
    for (const follower of fresh) {
      const [first] = (await follower.all()).filter(({ event }) => event === 'message.delta');
      expect([first?.place, first?.data]).toMatchObject([places.at(-1), { text: 'Grüß Gott, 🐦真的' }]);
      expect(follower.deltas()).toBe('Grüß Gott, 🐦真的!');
    }
    // The message is complete: the journal has the whole text.
    for (const place of [...places, '1']) {
      expect(await (await jackdaw.follow(runId, place)).all()).toEqual(journaled(all).slice(1));
    }
  });

  it('is notified with step.restarted that a repeated model call voids the text so far', async () => {
    const { stream, runId, reply } = await ask();
    reply.say(' ');
    reply.finish();
    const place = (await stream.waitFor('message.delta')).place!;
    const again = await model.next();
    const restarted = await stream.waitFor('step.restarted');
    expect(restarted.data).toEqual({ type: 'step.restarted', iteration: 1, text: '' });
    const usage = journaled(stream.events).at(-1)!;
    expect(usage.event).toBe('usage');
    again.say('So ');
    again.say('far.');
    await waitForText(stream, 'So far.');
    const followers = await Promise.all([place, restarted.place!, usage.place!].map((id) => jackdaw.follow(runId, id)));
    const firsts = await Promise.all([
      followers[0]!.waitFor('step.restarted'),
      followers[1]!.waitFor('message.delta'),
      followers[2]!.waitFor('step.restarted'),
    ]);
    for (const { data, place: id } of firsts)
      expect([data['text'], id]).toEqual(['So far.', stream.events.at(-1)?.place]);
    again.finish();
    const all = await stream.all();
    for (const follower of followers) expect(fold(await follower.all()).messages).toEqual(fold(all).messages);
    expect(journaled(followers[0]!.events)).toEqual(journaled(all).slice(1));
  });

  // A blank reply is asked for again, and leading whitespace is sent with the text that follows it.
  const fragment = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 });
  const pieces = fc.array(fragment, { minLength: 1, maxLength: 6 }).filter((words) => words.join('').trim() !== '');
  it('gets the same events with repeated reconnects as with one connection', async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(pieces, pieces, cuts, async (first, second, lives) => {
        const { stream, runId, reply } = await ask();
        const reading = readInPieces(runId, lives);
        const replies = [reply];
        for (const [i, words] of [first, second].entries()) {
          const now = (replies[i] ??= await model.next());
          for (const [at, piece] of words.entries()) {
            now.say(piece);
            const text = words.slice(0, at + 1).join('');
            if (text.trim() !== '') await waitForText(stream, text);
          }
          now.finish(i === 0 ? DOUBLE : undefined);
        }
        const all = await stream.all();
        const client = await reading;
        expect(client.journaled).toEqual(journaled(all).map(({ id, data }) => ({ n: id, event: data })));
        expect(client.messages.map(({ text }) => text)).toEqual([first.join(''), second.join('')]);
        for (const { text, received } of client.messages) expect(text.startsWith(received)).toBe(true);
        expect(fold(all).messages.map(({ received }) => received)).toEqual([first.join(''), second.join('')]);
      }),
      { numRuns: 25 },
    );
  });

  /** Disconnects after each number of events in `lives`, then reconnects with its last position until the run ends. */
  async function readInPieces(runId: string, lives: readonly number[]): Promise<FoldingClient> {
    const client = new FoldingClient();
    for (let life = 0; client.journaled.at(-1)?.event.type !== 'run.completed'; life++) {
      const stream = await jackdaw.follow(runId, client.lastEventId ?? undefined);
      const taken = await stream.first(lives[life] ?? Infinity);
      stream.leave();
      fold(taken, client);
    }
    return client;
  }

  it.each(['x', '1.2', '-1', '1.2.3.4', '1.1.x'])('is refused for the invalid position "%s"', async (place) => {
    const { stream, runId, reply } = await ask();
    const refused = await jackdaw.follow(runId, place);
    await refused.all();
    expect([refused.status, JSON.parse(refused.rest)]).toMatchObject([400, { code: 'VALIDATION_FAILED' }]);
    reply.finish();
    (await model.next()).finish();
    expect((await stream.all()).at(-1)?.event).toBe('run.failed');
  });
});

describe('a client that does not read its stream', () => {
  const PIECE = 'x'.repeat(250_000);
  const PIECES = 80;

  /** Emits 20 MB; those who read get all of it. */
  async function publishMany({ stream, reply }: Chat): Promise<void> {
    for (let i = 1; i <= PIECES; i++) reply.say(PIECE);
    const lengthOf = (data: SseEvent['data']) => (data.type === 'message.delta' ? data.text.length : 0);
    for (let n = 1, length = 0; length < PIECES * PIECE.length; n++)
      length += lengthOf((await stream.waitFor('message.delta', n)).data);
  }

  /** The server's socket of the connection that `open` makes. */
  async function socketOf(open: () => Promise<EventStream>): Promise<[EventStream, Socket]> {
    const server: Server = jackdaw.app.getHttpServer();
    const arrival = new Promise<Socket>((resolve) => server.once('connection', resolve));
    return [await open(), await arrival];
  }

  it('costs little memory, and gets the whole stream when it reads again', async () => {
    const chat = await ask();
    const [slow, socket] = await socketOf(() => jackdaw.follow(chat.runId));
    slow.pause();
    await publishMany(chat);
    // The process buffers far less than the emitted text; the rest is in the buffers of the operating system.
    expect(socket.writableLength).toBeLessThan(1_000_000);
    slow.resume();
    chat.reply.finish();
    const client = fold(await slow.all());
    const text = PIECE.repeat(PIECES);
    expect(client.messages.map((message) => [message.text === text, message.received === text])).toEqual([
      [true, true],
    ]);
    expect(client.journaled.map(({ n }) => n)).toEqual([1, 2, 3, 4]);
    expect(client.journaled.at(-1)?.event.type).toBe('run.completed');
    expect((await chat.stream.all()).at(-1)?.event).toBe('run.completed');
  });

  it('gets SLOW_READER after 30 s without progress, unlike an idle client, and can resume at its position', async () => {
    const chat = await ask();
    const [slow, socket] = await socketOf(() => jackdaw.follow(chat.runId));
    const [idle, idleSocket] = await socketOf(() => jackdaw.follow(chat.runId));
    expect([socket.timeout, idleSocket.timeout]).toEqual([30_000, 30_000]);
    slow.pause();
    await publishMany(chat);
    // Node emits it when the socket has sent nothing for that time.
    socket.emit('timeout');
    idleSocket.emit('timeout');
    slow.resume();
    const first = await slow.all();
    expect(first.at(-1)).toMatchObject({ event: 'stream.closed', data: { code: 'SLOW_READER' } });
    expect(slow.deltas().length).toBeLessThan((PIECES - 10) * PIECE.length);

    const client = fold(first);
    const rest = await jackdaw.follow(chat.runId, client.lastEventId!);
    await rest.waitFor('message.delta');
    chat.reply.finish();
    const [message] = fold(await rest.all(), client).messages;
    expect(message?.received === PIECE.repeat(PIECES)).toBe(true);
    expect((await idle.all()).at(-1)?.event).toBe('run.completed');
  });

  it('is disconnected when it does not read the last event either', async () => {
    const chat = await ask();
    const [slow, socket] = await socketOf(() => jackdaw.follow(chat.runId));
    slow.pause();
    await publishMany(chat);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.emit('timeout');
    expect([socket.destroyed, socket.timeout]).toEqual([false, 30_000]);
    socket.emit('timeout');
    await closed;
    chat.reply.finish();
    expect((await chat.stream.all()).at(-1)?.event).toBe('run.completed');
  });
});
