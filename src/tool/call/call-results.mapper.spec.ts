import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Log } from '../../errors/index.js';
import { schemaChecker } from '../bounded/schema-checker.js';
import { createBoundedCheck, createSchemaInput } from '../input/schema-input.factory.js';
import { createTool } from '../tool.factory.js';
import { CallResults } from './call-results.mapper.js';

const warnings: string[] = [];
beforeAll(
  () => void vi.spyOn(Log.prototype, 'warn').mockImplementation((line: unknown) => void warnings.push(String(line))),
);
afterAll(() => {
  vi.restoreAllMocks();
  schemaChecker.release();
});

describe('CallResults', () => {
  it('uses the result of an executed call whose check does not complete, and logs a warning', async () => {
    const declaration = { name: 'probe', description: 'For a test.', effect: 'once', source: 'Test.probe' } as const;
    const tool = await createTool(
      declaration,
      () => createSchemaInput({ type: 'object' }),
      () => 1,
    );
    const checkOutput = createBoundedCheck({ $ref: '#' }, 'result', 'its output');
    const results = new CallResults(new Log('Test'), 1000, []);
    const outcome = { kind: 'returned', value: { n: 1 } } as const;
    const { result } = await results.of(
      { tool: { ...tool, checkOutput }, input: {} },
      outcome,
      { maxBytes: 1000, files: { maxBytes: 0 } },
      5,
      true,
    );
    expect(result).toMatchObject({ success: true, result: { n: 1 } });
    expect(warnings).toEqual([
      expect.stringMatching(/^Result of tool "probe" was not checked against its output schema: its output cannot/),
    ]);
  });
});
