import { describe, expect, it } from 'vitest';
import { Extension } from '../agent/index.js';
import { orderExtensions } from './extension-order.policy.js';

class Plain extends Extension {
  constructor(
    readonly name: string,
    override readonly dependencies: readonly string[] = [],
    readonly version = '1.0.0',
  ) {
    super();
  }
}

class Other extends Plain {}

const names = (extensions: readonly Extension[]) => extensions.map(({ name }) => name);
const messageOf = (...given: Parameters<typeof orderExtensions>) => {
  try {
    return names(orderExtensions(...given)).join();
  } catch (error) {
    return (error as Error).message;
  }
};

describe('orderExtensions()', () => {
  it('preserves the given order, except for dependencies', () => {
    expect(orderExtensions([])).toEqual([]);
    expect(names(orderExtensions([new Plain('b'), new Plain('a')]))).toEqual(['b', 'a']);
    const given = [new Plain('top', ['left', 'right']), new Plain('right', ['base']), new Plain('left', ['base'])];
    expect(names(orderExtensions([...given, new Plain('base')]))).toEqual(['base', 'left', 'right', 'top']);
  });

  it('resolves dependencies on started extensions without starting them again', () => {
    const started = [new Plain('base', [], '1.4.0')];
    expect(names(orderExtensions([new Plain('top', ['base@^1.2.0'])], started))).toEqual(['top']);
    expect(messageOf([new Other('base')], started)).toBe(
      '2 extensions are named "base": Plain, Other; remove or rename one of them.',
    );
  });

  it('reports every mistake', () => {
    const given = [
      new Plain('a', ['b']),
      new Plain('b', ['c']),
      new Plain('c', ['a']),
      new Plain('self', ['self']),
      new Plain('lone', ['unknown', 'a@2', 'a@^2.0.0']),
      new Plain('a b', [], 'one'),
      new Other('lone'),
    ];
    expect(messageOf(given).split('\n')).toEqual([
      'The extension "lone" (Plain): its dependency "a@2" is neither a name nor a name with a version such as "audit@^1.2.0".',
      'The extension "a b" (Plain): its name must be 1 to 64 of A-Z, a-z, 0-9, ".", "_" and "-".',
      'The extension "a b" (Plain): its version must be three numbers such as "1.4.0".',
      '2 extensions are named "lone": Plain, Other; remove or rename one of them.',
      'The extension "lone" 1.0.0 (Plain) requires the extension "unknown", which is missing: add it.',
      'The extension "lone" 1.0.0 (Plain) requires "a" ^2.0.0, but its version is 1.0.0.',
      'Extensions have circular dependencies: "a" → "b" → "c" → "a".',
      'Extensions have circular dependencies: "self" → "self".',
    ]);
  });

  it.each([
    ['1.2.0', '1.2.0', true],
    ['1.10.0', '1.9.9', true],
    ['2.0.0', '1.2.0', false],
    ['1.1.9', '1.2.0', false],
    ['0.2.5', '0.2.1', true],
    ['0.3.0', '0.2.1', false],
    ['0.0.3', '0.0.3', true],
    ['0.0.4', '0.0.3', false],
    ['0.0.0', '0.0.0', true],
    ['0.0.1', '0.0.0', false],
  ])('decides whether %s satisfies ^%s: %s', (version, atLeast, isEnough) => {
    const ordered = messageOf([new Plain('x', [`base@^${atLeast}`]), new Plain('base', [], version)]);
    expect(ordered === 'base,x').toBe(isEnough);
  });
});
