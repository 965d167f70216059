import { describe, expect, it } from 'vitest';
import { assertNode } from './config.loader.js';

describe('assertNode', () => {
  it.each([
    ['20.20.2', '9'],
    ['22.18.0', '10'],
    ['23.0.0', '9'],
  ])('refuses Node %s with Node-API %s', (node, napi) => {
    expect(() => assertNode({ node, napi })).toThrow(`Jackdaw needs Node 22.19 or newer; this is ${node}`);
  });

  it.each([['Bun'], ['Deno']])('refuses %s, which imitates Node', (name) => {
    const versions = { node: '24.3.0', napi: '10', [name.toLowerCase()]: '1.2.3' };
    expect(() => assertNode(versions)).toThrow(`Jackdaw does not support ${name}: run the program on Node 24.`);
  });

  it.each([
    ['22.19.0', '10'],
    ['24.0.0', '10'],
  ])('accepts Node %s', (node, napi) => {
    expect(() => assertNode({ node, napi })).not.toThrow();
  });
});
