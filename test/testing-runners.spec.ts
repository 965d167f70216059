import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PackedConsumer } from './support/packed-consumer.js';

/** `jackdaw/testing` of the packed package in projects of each test runner. */
describe('jackdaw/testing', () => {
  let project: PackedConsumer;
  beforeAll(async () => {
    project = await PackedConsumer.create('test/fixtures/runners', ['jest', '@jest/globals', 'vitest']);
  });
  afterAll(() => project.remove());

  it('works in node --test', () => {
    const { code, output } = project.node(['--test', 'node.test.js']);
    expect([code, output]).toEqual([0, expect.stringMatching(/pass 3\n/)]);
  });

  it('works in Vitest', () => {
    const { code, output } = project.node(['node_modules/vitest/vitest.mjs', 'run']);
    expect([code, output]).toEqual([0, expect.stringMatching(/3 passed/)]);
  });

  it('works in Jest 30', () => {
    const { code, output } = project.node(['--experimental-vm-modules', 'node_modules/jest/bin/jest.js']);
    expect([code, output]).toEqual([0, expect.stringMatching(/Tests: +3 passed/)]);
    expect(output).not.toContain('did not exit');
  });

  it('needs no test runner', () => {
    const code = project.files.filter((path) => path.startsWith('lib/testing'));
    expect(code.length).toBeGreaterThan(0);
    const runner = /(?:from|import|require)\W+(?:vitest|jest|@jest\/\w+|node:test)\b/;
    expect(code.filter((path) => runner.test(project.read(path)))).toEqual([]);
  });
});
