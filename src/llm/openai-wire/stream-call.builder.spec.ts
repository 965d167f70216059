import { describe, expect, it } from 'vitest';
import { StreamCallBuilder } from './stream-call.builder.js';
import type { WireToolCall } from './wire-reply.types.js';

function build(...fragments: WireToolCall[]): string[] {
  const builder = new StreamCallBuilder();
  for (const fragment of fragments) builder.add(fragment);
  return builder.result().map((call) => `${call.id} ${call.name} ${call.arguments}`);
}

describe('StreamCallBuilder', () => {
  it('joins fragments by index, also if they alternate', () => {
    expect(
      build(
        { index: 0, id: 'a', function: { name: 'f', arguments: '' } },
        { index: 1, id: 'b', function: { name: 'g' } },
        { index: 0, function: { arguments: '{"x"' } },
        { index: 1, function: { arguments: '{}' } },
        { index: 0, function: { arguments: ':1}' } },
      ),
    ).toEqual(['a f {"x":1}', 'b g {}']);
  });

  it('supports servers that repeat id and name in each fragment', () => {
    expect(
      build(
        { index: 0, id: 'a', function: { name: 'f', arguments: '{' } },
        { index: 0, id: 'a', function: { name: 'f', arguments: '}' } },
      ),
    ).toEqual(['a f {}']);
  });

  it('supports servers that number every call 0', () => {
    expect(
      build(
        { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } },
        { index: 0, id: 'b', function: { name: 'f', arguments: '{}' } },
      ),
    ).toEqual(['a f {}', 'b f {}']);
  });

  it('joins fragments without an index, by id or in order', () => {
    expect(
      build(
        { id: 'a', function: { name: 'f', arguments: '{' } },
        { function: { arguments: '}' } },
        { id: 'b', function: { name: 'g', arguments: { y: 2 } } },
      ),
    ).toEqual(['a f {}', 'b g {"y":2}']);
    expect(build({ function: { name: 'f', arguments: '{}' } }, { function: { name: 'g', arguments: '{}' } })).toEqual([
      ' f {}',
      ' g {}',
    ]);
  });
});
