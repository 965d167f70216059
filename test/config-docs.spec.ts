import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { loadConfig } from '../src/config/index.js';
import { README_BEGIN, README_END, renderConfigTable, renderEnvExample, tableCells } from './support/config-docs.js';

describe('the variables in the documents', () => {
  it('are those of the schema in the README', () => {
    const readme = readFileSync('README.md', 'utf8');
    const section = readme.slice(readme.indexOf(README_BEGIN) + README_BEGIN.length, readme.indexOf(README_END));
    expect(tableCells(section)).toEqual(tableCells(renderConfigTable()));
  });

  it('are those of the schema in config/.env.example', () => {
    expect(readFileSync('config/.env.example', 'utf8')).toBe(renderEnvExample());
  });

  it('can all be left out, and all be uncommented as they stand in config/.env.example', () => {
    const uncommented = readFileSync('config/.env.example', 'utf8').replaceAll(/^#(?=[A-Z_]+=)/gm, '');
    const { config } = loadConfig({ env: {} });
    // What agents' files may name is what was given.
    const given = loadConfig({ env: {}, envFile: uncommented }).config.with({ agentFiles: config.agentFiles });
    expect(given).toEqual(config);
  });
});
