import { describe, expect, it } from 'vitest';
import { exportsOf } from './load-package.js';

describe('exportsOf', () => {
  it('returns the exports of a CommonJS package in a bundle, which has them in default only', () => {
    const whole = { Agent: class {} };
    expect(exportsOf({ default: whole })).toBe(whole);
  });

  it('returns a module with names as it is', () => {
    const module = { default: {}, Agent: class {} };
    expect(exportsOf(module)).toBe(module);
  });
});
