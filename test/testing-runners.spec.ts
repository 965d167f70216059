import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PackedConsumer } from './support/packed-consumer.js';

/** `jackdaw/testing` of the packed package in projects of each test runner. */
describe('jackdaw/testing', () => {
  let project: PackedConsumer;
  beforeAll(async () => {
    project = await PackedConsumer.create('test/fixtures/runners', ['jest', '@jest/globals', 'expect', 'vitest']);
  });
  afterAll(() => project.remove());

  it('works in node --test', () => {
    const { code, output } = project.node(['--test', 'node.test.js']);
    expect([code, output]).toEqual([0, expect.stringMatching(/pass 4\n/)]);
  });

  it('works in Vitest', () => {
    const { code, output } = project.node(['node_modules/vitest/vitest.mjs', 'run']);
    expect([code, output]).toEqual([0, expect.stringMatching(/4 passed/)]);
  });

  it('works in Jest 30', () => {
    const { code, output } = project.node(['--experimental-vm-modules', 'node_modules/jest/bin/jest.js']);
    expect([code, output]).toEqual([0, expect.stringMatching(/Tests: +4 passed/)]);
    expect(output).not.toContain('did not exit');
  });

  it.each(['jest-types.ts', 'vitest-types.ts'])('has types for the matchers: %s', (file) => {
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023'];
    const { code, output } = project.node(['node_modules/typescript/bin/tsc', ...flags, file]);
    expect([code, output]).toEqual([0, '']);
  });

  it('has the setup file of docs/testing.md', () => {
    const [, setup = ''] = /^```typescript\n(.*?)^```$/ms.exec(readFileSync('docs/testing.md', 'utf8')) ?? [];
    expect(setup).toContain('expect.extend(matchers);');
    expect(readFileSync('test/fixtures/runners/vitest-types.ts', 'utf8')).toContain(setup);
  });

  it('needs no test runner', () => {
    const code = project.files.filter((path) => path.startsWith('lib/testing'));
    expect(code.length).toBeGreaterThan(0);
    const runner = /(?:from|import|require)\W+(?:vitest|jest|@jest\/\w+|node:test)\b/;
    expect(code.filter((path) => runner.test(project.read(path)))).toEqual([]);
  });
});
