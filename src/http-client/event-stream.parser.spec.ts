import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { EventStreamParser, readEvents } from './event-stream.parser.js';

const STREAM =
  ': heartbeat\n\nid: 3\nevent: thought\ndata: {"a":\ndata: 1}\n\r\nevent: step.started\rdata:x\r\n\r\nretry: 5\n\ndata';

describe('EventStreamParser', () => {
  it('finds the same events wherever the text is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 8 }), (places) => {
        const cuts = [0, ...places.toSorted((a, b) => a - b), STREAM.length];
        const parser = new EventStreamParser();
        const found = cuts.slice(1).flatMap((to, i) => parser.push(STREAM.slice(cuts[i], to)));
        expect(found).toEqual([
          { id: '3', data: '{"a":\n1}' },
          { id: undefined, data: 'x' },
        ]);
      }),
    );
  });
});

describe('readEvents', () => {
  /** A response whose body gets these bytes, and then stays open. */
  function open(bytes: Uint8Array<ArrayBuffer>[]): { response: Response; closed: Promise<void> } {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const body = new ReadableStream({
      start: (stream) => bytes.forEach((each) => stream.enqueue(each)),
      cancel: resolve,
    });
    return { response: new Response(body), closed };
  }

  it('joins characters that the network cuts, and closes the connection of an ended iteration', async () => {
    const bytes = new TextEncoder().encode('data: 🐦\n\n');
    const { response, closed } = open([bytes.slice(0, 8), bytes.slice(8)]);
    for await (const { data } of readEvents(response, 60_000)) {
      expect(data).toBe('🐦');
      break;
    }
    await closed;
  });

  it('fails without data for its time, and closes the connection', async () => {
    const { response, closed } = open([]);
    await expect(readEvents(response, 5).next()).rejects.toThrow('No data in 5 ms.');
    await closed;
  });
});
