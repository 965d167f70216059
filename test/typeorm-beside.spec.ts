import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PackedConsumer } from './support/packed-consumer.js';
import { inShortForm } from './support/long-form.js';

describe('TypeORM 0.3 of a host beside Jackdaw', () => {
  let consumer: PackedConsumer;
  beforeAll(async () => {
    consumer = await PackedConsumer.create('test/fixtures/typeorm', ['typeorm-v03']);
  });
  afterAll(() => consumer.remove());

  it.each(
    inShortForm(3, [
      ['its entities load and connect before Jackdaw', 'load,connect,jackdaw'],
      ['its entities load after the start of Jackdaw', 'jackdaw,load,connect'],
      ['Jackdaw is imported first and starts last', 'import,load,connect,jackdaw'],
      ['Jackdaw is imported first and starts between them', 'import,load,jackdaw,connect'],
      ['Jackdaw starts between them', 'load,jackdaw,connect'],
    ]),
  )('works if %s', (_title, order) => {
    const { code, output } = consumer.node(['host.mjs', order, `${consumer.folder}/${order.replaceAll(',', '-')}`]);
    // A slow disk adds a warning before it.
    expect([code, output.trimEnd().split('\n').at(-1)]).toEqual([0, 'lamp true']);
  });
});
