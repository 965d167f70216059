import { describe, expect, it } from 'vitest';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createValueCheck } from '../src/tool/input/index.js';

/** https://github.com/json-schema-org/JSON-Schema-Test-Suite, beside the project or at the path of the variable. */
const FOLDER = resolve(process.env['JSON_SCHEMA_TEST_SUITE'] ?? '../shared/data/json-schema-test-suite');
const DRAFTS = {
  'draft2020-12': 'https://json-schema.org/draft/2020-12/schema',
  draft7: 'http://json-schema.org/draft-07/schema#',
};

interface Group {
  readonly description: string;
  readonly schema: boolean | Readonly<Record<string, unknown>>;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

/** Reasons for a result that differs from the suite's. */
const REMOTE = 'loads a schema from elsewhere, which is never done, not even from json-schema.org';
const FORMATS =
  'formats are asserted, as the draft leaves to an implementation: a wrong e-mail address is a wrong argument';
const PROTO = 'the key `__proto__` is refused wherever JSON comes in';
const DYNAMIC = 'ajv 8 finds the target of a `$dynamicRef` by the order of evaluation, and none in another resource';
const CONDITIONAL = 'ajv 8 does not report the items that a `contains` inside of an `if` has evaluated';
const NESTED = 'ajv 8 takes items for evaluated by a branch that did not hold';

/** Groups with such results: all groups of a file (`*`) or one. Each entry must be necessary. */
const EXCEPTIONS: Readonly<Record<keyof typeof DRAFTS, Readonly<Record<string, string>>>> = {
  'draft2020-12': {
    'refRemote.json › *': REMOTE,
    'vocabulary.json › *': REMOTE,
    'defs.json › validate definition against metaschema': REMOTE,
    'ref.json › remote ref, containing refs itself': REMOTE,
    'dynamicRef.json › strict-tree schema, guards against misspelled properties': REMOTE,
    'dynamicRef.json › tests for implementation dynamic anchor and reference link': REMOTE,
    'dynamicRef.json › $ref and $dynamicAnchor are independent of order - $defs first': REMOTE,
    'dynamicRef.json › $ref and $dynamicAnchor are independent of order - $ref first': REMOTE,
    'dynamicRef.json › $ref to $dynamicRef finds detached $dynamicAnchor': REMOTE,
    'dynamicRef.json › *': DYNAMIC,
    'unevaluatedItems.json › unevaluatedItems with $dynamicRef': DYNAMIC,
    'unevaluatedProperties.json › unevaluatedProperties with $dynamicRef': DYNAMIC,
    'format.json › *': FORMATS,
    'properties.json › properties whose names are Javascript object property names': PROTO,
    'unevaluatedItems.json › unevaluatedItems and contains interact to control item dependency relationship':
      CONDITIONAL,
    'unevaluatedItems.json › unevaluatedItems with nested items': NESTED,
    'unevaluatedItems.json › unevaluatedItems can see annotations from if without then and else': NESTED,
  },
  draft7: {
    'refRemote.json › *': REMOTE,
    'definitions.json › validate definition against metaschema': REMOTE,
    'ref.json › remote ref, containing refs itself': REMOTE,
    'properties.json › properties whose names are Javascript object property names': PROTO,
  },
};

interface Outcome {
  readonly group: string;
  readonly test: string;
  readonly isEqual: boolean;
}

function outcomesOf(draft: keyof typeof DRAFTS): Outcome[] {
  const folder = join(FOLDER, 'tests', draft);
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.flatMap((file) => {
    const groups = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Group[];
    return groups.flatMap((group) => outcomesOfGroup(`${file} › ${group.description}`, group, draft));
  });
}

function outcomesOfGroup(group: string, { schema, tests }: Group, draft: keyof typeof DRAFTS): Outcome[] {
  const described = typeof schema === 'boolean' ? { allOf: [schema] } : { $schema: DRAFTS[draft], ...schema };
  const check = attempt(() => createValueCheck(described));
  return tests.map(({ description, data, valid }) => {
    const found = check && attempt(() => check(data).valid);
    return { group, test: `${group} › ${description}`, isEqual: found === valid };
  });
}

/** The result, or undefined if the schema is refused or the check throws. */
function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

function isListed(draft: keyof typeof DRAFTS, group: string): boolean {
  return group in EXCEPTIONS[draft] || `${group.split(' › ')[0]} › *` in EXCEPTIONS[draft];
}

const isThere = existsSync(join(FOLDER, 'tests'));
const title = isThere
  ? 'the JSON Schema test suite'
  : `the JSON Schema test suite (skipped: there is no ${FOLDER}; JSON_SCHEMA_TEST_SUITE may name another folder)`;

(isThere ? describe : describe.skip)(title, () => {
  it.each(['draft2020-12', 'draft7'] as const)(
    'of %s has the expected results except for the listed groups',
    (draft) => {
      const outcomes = outcomesOf(draft);
      expect(outcomes.length).toBeGreaterThan(900);
      const different = outcomes.filter(({ isEqual }) => !isEqual);
      expect(different.filter(({ group }) => !isListed(draft, group)).map(({ test }) => test)).toEqual([]);
      const groups = new Set(different.flatMap(({ group }) => [group, `${group.split(' › ')[0]} › *`]));
      expect(Object.keys(EXCEPTIONS[draft]).filter((group) => !groups.has(group))).toEqual([]);
    },
  );
});
