import { describe, expect, it } from 'vitest';
import Ajv2020 from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';
import { agentFileSchema, workflowFileSchema } from './support/file-schemas.js';

const jsonOf = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
const examplesIn = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/```json\n([^]*?)```/g)].map(([, text = '']) => JSON.parse(text) as object);

/** The validation errors of a value by the published schema. */
function faults(file: string, given: unknown): string[] {
  const check = new Ajv2020.default({ strict: false, allErrors: true }).compile(jsonOf(file));
  check(given);
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('docs/schemas/agent.schema.json', () => {
  const file = 'docs/schemas/agent.schema.json';

  it('equals the schema generated from the definition and the file reader', () => {
    expect(jsonOf(file)).toEqual(agentFileSchema());
  });

  it('accepts valid files', () => {
    const taken = [
      ...examplesIn('docs/agent-files.md'),
      { name: 'a', extends: 'b', model: { parameters: { temperature: 0 } }, limits: { maxIterations: 2 } },
      { name: 'a', model: { provider: 'openai' }, waiting: { onDenied: '${DENIED}' }, env: ['DENIED'] },
      { name: 'a', $schema: 'agent.schema.json', mcpServers: ['web', { name: 'x', enabled: false }] },
      { name: 'a', responseFormat: { name: 'x', schema: { src: 'x.json' } }, tools: '*' },
      { name: 'a', guardrails: {}, budgets: { run: { tokens: 5 } }, approvals: ['send_*'] },
    ];
    expect(taken.flatMap((one) => faults(file, one))).toEqual([]);
  });

  it.each([
    [{ extends: 'b' }, " must have required property 'name'"],
    [{ name: 'a', colour: 'red' }, ' must NOT have additional properties'],
    [{ name: 'a', limits: { maxIterations: 0 } }, '/limits/maxIterations must be >= 1'],
    [{ name: 'a', model: { fallback: [{}] } }, "/model/fallback/0 must have required property 'provider'"],
    [{ name: 'a b' }, String.raw`/name must match pattern "^[^\s/]+$"`],
  ])('refuses %j', (given, fault) => {
    expect(faults(file, given)).toContain(fault);
  });
});

describe('docs/schemas/workflow.schema.json', () => {
  const file = 'docs/schemas/workflow.schema.json';

  it('equals the schema generated from the definition', () => {
    expect(jsonOf(file)).toEqual(workflowFileSchema());
  });

  it('accepts the example of the page and refuses invalid workflows', () => {
    const [example = {}] = examplesIn('docs/workflows.md');
    expect(faults(file, { ...example, $schema: 'workflow.schema.json' })).toEqual([]);
    expect(faults(file, { ...example, nodes: [{ id: 'x', type: 'lm' }] })).not.toEqual([]);
    expect(faults(file, { ...example, colour: 'red' })).toEqual([' must NOT have additional properties']);
  });
});
