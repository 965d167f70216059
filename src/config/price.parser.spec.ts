import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { prices } from './price.parser.js';

const given = { 'openai:gpt-5-mini': { input: 0.25, output: 2, cachedInput: 0.025 }, qwen3: { input: 0, output: 0 } };

it('reads prices as JSON and from a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prices-'));
  try {
    const file = join(folder, 'prices.json');
    writeFileSync(file, JSON.stringify(given));
    expect(prices().parse(JSON.stringify(given))).toEqual(given);
    expect(prices().parse(file)).toEqual(given);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it.each([
  ['{"a": {"input": 1}}', 'a.output'],
  ['{"a": {"input": -1, "output": 1}}', 'a.input'],
  ['{"a": {"input": 1, "output": 1, "cached": 1}}', 'cached'],
  ['{"a": 1', 'JSON'],
  ['/does/not/exist.json', 'ENOENT'],
])('refuses %s with the reason', (text, why) => {
  expect(() => prices().parse(text)).toThrow(why);
});
