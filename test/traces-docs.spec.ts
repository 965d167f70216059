import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { ATTRIBUTES } from '../src/telemetry/index.js';
import { tableCells } from './support/markdown-table.js';

describe('docs/tracing.md', () => {
  it('lists each attribute of the spans', () => {
    const page = readFileSync('docs/tracing.md', 'utf8');
    const names = tableCells(page).map(([name]) => /^`([a-z_]+\.[a-z_.]+)`$/.exec(name!)?.[1]);
    const listed = names.filter((name) => name !== undefined);
    expect(listed.toSorted()).toEqual(Object.values(ATTRIBUTES).toSorted());
  });
});
