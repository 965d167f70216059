import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { readFileSync, writeFileSync } from 'node:fs';
import { RestWorld } from '../support/rest-world.js';
import { publishedDocuments } from './openapi-documents.js';
import { type DocumentRow, withDocuments } from './openapi-table.js';
import { tryDocument } from './openapi-trial.js';

Logger.overrideLogger(false);

const IS_LONG = process.env['INTEGRATIONS_LONG'] === '1';
/** Writes the measured rows instead of comparing them. */
const IS_WRITING = process.env['INTEGRATIONS_WRITE'] === '1';
const ROWS = new URL('openapi.json', import.meta.url).pathname;
const PAGE = 'docs/integrations.md';

const recorded = new Map((JSON.parse(readFileSync(ROWS, 'utf8')) as DocumentRow[]).map((row) => [row.name, row]));
const documents = publishedDocuments(IS_LONG);
const named = new Set(publishedDocuments(false).map(({ name }) => name));

const world = RestWorld.prepare();

describe('published OpenAPI documents', () => {
  const measured: DocumentRow[] = [];
  /** Before the comparison of the page; the tests of a file run in order. */
  function write(): void {
    const rows = measured.filter(({ name }) => named.has(name));
    writeFileSync(ROWS, `${JSON.stringify(rows, null, 2)}\n`);
    writeFileSync(PAGE, withDocuments(readFileSync(PAGE, 'utf8'), rows));
  }

  it.each(documents.map((document) => [document.name, document] as const))(
    '%s: every request has exactly the values of the examples',
    async (name, { path, origin }) => {
      const { faults, ...facts } = await tryDocument(name, path, world);
      expect(faults).toEqual([]);
      const row: DocumentRow = { name, origin, ...facts };
      measured.push(row);
      expect(row).toEqual(IS_WRITING ? row : (recorded.get(name) ?? row));
    },
  );

  it('are listed in docs/integrations.md', () => {
    if (IS_WRITING) write();
    const page = readFileSync(PAGE, 'utf8');
    expect(
      withDocuments(page, IS_WRITING ? measured.filter(({ name }) => named.has(name)) : [...recorded.values()]),
    ).toBe(page);
  });
});
