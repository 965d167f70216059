import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenAPIObject } from '@nestjs/swagger';
import { readFileSync } from 'node:fs';
import { eventShapes, type EventShape } from './support/event-shapes.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ENTRY = /^- \*\*`([a-z.]+)`\*\*( \(live\))? `\{([^}]*)\}`:/gm;

/** Sorted, since the order of shapes is irrelevant to a reader. */
function sorted(shapes: readonly EventShape[]): EventShape[] {
  const each = shapes.map((shape) => ({ ...shape, members: shape.members.toSorted() }));
  return each.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

describe('the events of runs', () => {
  const shapes = eventShapes();
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw({ env: { DOCS_ENABLED: 'true' } });
  });
  afterAll(() => jackdaw.stop());

  it('are in docs/run-events.md, each with its members', () => {
    expect(shapes.length).toBeGreaterThan(20);
    const entries = [...readFileSync('docs/run-events.md', 'utf8').matchAll(ENTRY)];
    const documented = entries.map(([, type = '', live, members = '']) => {
      return { type, isLive: live !== undefined, members: members.split(/,\s+/) };
    });
    expect(sorted(documented)).toEqual(sorted(shapes));
  });

  it('are in the OpenAPI document', async () => {
    const { components } = (await jackdaw.get('/docs/json')).body as unknown as OpenAPIObject;
    const types = components?.schemas?.['RunEventType'] as { readonly enum: string[]; readonly description: string };
    const live = [...types.description.matchAll(/^- `([a-z.]+)`: (?:Live only: )./gm)].map(([, type = '']) => type);
    expect(types.enum.toSorted()).toEqual([...new Set(shapes.map(({ type }) => type))].toSorted());
    expect(live.toSorted()).toEqual(shapes.flatMap(({ type, isLive }) => (isLive ? [type] : [])).toSorted());
  });
});
