import { describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { toJsonResult } from '../result/json-result.mapper.js';
import { readReturned } from './returned-value.js';

const MIB = 1024 * 1024;
const NOTE = '[cut: only the first 10000 values or 4 MiB are read]';
const TEXT_NOTE = '[cut: only the first 4 MiB are read]';
const signal = new AbortController().signal;
const never = new Promise<never>(() => undefined);

/** An iterator that is no generator, with the value of each step. */
function iteratorOf(next: () => unknown, more: object = {}) {
  return {
    next: async () => ({ done: false, value: next() }),
    [Symbol.asyncIterator]() {
      return this;
    },
    ...more,
  };
}

describe('the reading of a generator', () => {
  it.each<[string, unknown]>([
    ['texts', 'x'.repeat(MIB)],
    ['buffers', Buffer.alloc(MIB)],
    ['objects', { list: [{ text: 'x'.repeat(MIB) }] }],
    ['maps', new Map([['list', new Set(['x'.repeat(MIB)])]])],
    ['lists of numbers', Array(MIB / 4).fill(1)],
    ['objects with `toJSON`', { toJSON: () => ['x'.repeat(MIB)] }],
  ])('ends after 4 MiB of %s', async (_case, value) => {
    let isEnded = false;
    const endless = async function* () {
      try {
        for (;;) yield value;
      } finally {
        isEnded = true;
      }
    };
    expect(await readReturned(endless(), signal)).toEqual([value, value, value, value, NOTE]);
    expect(isEnded).toBe(true);
  });

  it('counts the written members only, not hidden references', async () => {
    const client = { buffer: 'x'.repeat(5 * MIB) };
    const values = [
      { client, toJSON: () => ({ id: 1 }) },
      { status: 200, data: 'x', config: client, request: client },
      [1].values(),
    ];
    const map = new Map<string, unknown>();
    const read = (await readReturned(iterated([...values, map.set('self', map)]), signal)) as unknown[];
    expect(toJsonResult(read).value).toEqual([{ id: 1 }, { status: 200, data: 'x' }, [1], { self: '[circular]' }]);
  });

  it('adds no note after exactly 10,000 values', async () => {
    const values = [...Array(10_000).keys()];
    expect(await readReturned(iterated(values), signal)).toEqual(values);
    expect(await readReturned(iterated([...values, 10_000]), signal)).toEqual([...values, NOTE]);
  });

  it('does not start after an abort, and ends the generator', async () => {
    const done: string[] = [];
    const iterator = iteratorOf(() => done.push('next'), { return: async () => done.push('return') });
    const aborted = AbortSignal.abort(new Error('the call took too long'));
    await expect(readReturned(iterator, aborted)).rejects.toThrow('the call took too long');
    expect(done).toEqual(['return']);
  });

  it.each<[string, () => unknown]>([
    ['returns no promise', () => ({ done: true })],
    ['throws', () => throwing()],
    ['rejects', async () => throwing()],
  ])('accepts an iterator whose `return` %s', async (_case, end) => {
    const values = await readReturned(
      iteratorOf(() => 1, { return: end }),
      signal,
    );
    expect(values).toHaveLength(10_001);
  });
});

describe('the reading of a stream', () => {
  it.each<[string, () => unknown]>([
    ['a web stream', () => new ReadableStream({ pull: (control) => control.enqueue(Buffer.alloc(MIB, 'x')) })],
    ['a response', () => new Response('x'.repeat(5 * MIB))],
    ['a JSON response', () => new Response(`"${'x'.repeat(5 * MIB)}"`, { headers: { 'content-type': 'text/json' } })],
    ['a stream of texts', () => Readable.from(iterated(Array(5).fill('x'.repeat(MIB))))],
    ['a blob', () => new Blob(['x'.repeat(5 * MIB)])],
  ])('ends with a note after 4 MiB: %s', async (_case, create) => {
    const text = (await readReturned(create(), signal)) as string;
    expect(text.slice(-TEXT_NOTE.length - 2)).toBe(`x\n${TEXT_NOTE}`);
    expect(text.length).toBeLessThan(5 * MIB);
  });

  it('has no limit for the number of its parts', async () => {
    const parts = iterated(Array(20_000).fill('x'));
    expect(await readReturned(Readable.from(parts), signal)).toBe('x'.repeat(20_000));
  });

  it('ends with a note after 10,000 objects', async () => {
    const values = (await readReturned(
      Readable.from(iterated(Array.from({ length: 10_001 }, () => ({})))),
      signal,
    )) as unknown[];
    expect(values.slice(-2)).toEqual([{}, NOTE]);
  });
});

describe('a source that sends nothing', () => {
  it('is cancelled when the call is aborted: a web stream', async () => {
    const call = new AbortController();
    const cancelled = Promise.withResolvers<void>();
    const stream = new ReadableStream({ pull: () => never, cancel: () => cancelled.resolve() });
    const reading = readReturned(stream, call.signal);
    call.abort(new Error('too late'));
    await expect(reading).rejects.toThrow('too late');
    await cancelled.promise;
  });

  it('is destroyed when the call is aborted: a Node stream', async () => {
    const call = new AbortController();
    const stream = new Readable({ read: () => undefined });
    const reading = readReturned(stream, call.signal);
    call.abort(new Error('too late'));
    await expect(reading).rejects.toThrow('too late');
    expect(stream.destroyed).toBe(true);
  });

  it.each<[string, (response: Response) => unknown]>([
    ['the response', (response) => response],
    ['its body', ({ body }) => body],
  ])('releases the socket of `fetch`: %s', async (_case, returned) => {
    const call = new AbortController();
    const closed = Promise.withResolvers<void>();
    const server = createServer((request, reply) => {
      request.socket.on('close', () => closed.resolve());
      reply.flushHeaders();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const reading = readReturned(returned(response), call.signal);
    call.abort(new Error('too late'));
    await expect(reading).rejects.toThrow('too late');
    await closed.promise;
    server.close();
  });
});

describe('a database cursor', () => {
  it('is read by its iterator, not by its own `next`', async () => {
    const rows = [{ id: 1 }, { id: 2 }];
    const cursor = { next: async () => rows[0], [Symbol.asyncIterator]: () => iterated(rows) };
    expect(await readReturned(cursor, signal)).toEqual(rows);
  });

  it('without rows is an empty list', async () => {
    const cursor = { next: async () => null, [Symbol.asyncIterator]: () => iterated([]) };
    expect(await readReturned(cursor, signal)).toEqual([]);
  });
});

function throwing(): never {
  throw new Error('it cannot end');
}

async function* iterated(values: readonly unknown[]): AsyncGenerator {
  yield* values;
}
