import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { parseEnv } from 'node:util';
import { parseEnvFile } from './env-file.parser.js';

describe('parseEnvFile', () => {
  it.each<[string, Record<string, string>]>([
    ['', {}],
    ['\n  \n\t# only a comment\n', {}],
    ['A=1\nB = two words # comment\n  C=#none', { A: '1', B: 'two words', C: '' }],
    ['export A=1\nexport\tB=2\n export  C = 3', { A: '1', B: '2', C: '3' }],
    ['A="x # y" # comment\nB=\'x\\ny\'\nC=`"it\'s"`', { A: 'x # y', B: 'x\\ny', C: '"it\'s"' }],
    ['A="first\nsecond\\nthird"\nB=1', { A: 'first\nsecond\nthird', B: '1' }],
    [
      "A='-----BEGIN-----\nNOT AN ASSIGNMENT\n-----END-----'\nB=2",
      {
        A: '-----BEGIN-----\nNOT AN ASSIGNMENT\n-----END-----',
        B: '2',
      },
    ],
    ['A=1\r\nB="x\r\ny"\r\n', { A: '1', B: 'x\ny' }],
    ['A=1\rB=2', { A: '1', B: '2' }],
    ['A=\nB= \nC=3', { A: '', B: '', C: '3' }],
    ['a.b-c=1\nA=1\nA=2', { 'a.b-c': '1', A: '2' }],
    ['URL=http://x/?a=b&c="d"', { URL: 'http://x/?a=b&c="d"' }],
  ])('reads %j', (text, values) => {
    expect(parseEnvFile(text)).toEqual({ values, faults: [] });
  });

  it.each<[string, string]>([
    ['A=1\nAPI_KEYS', 'line 2 is neither an assignment (NAME=value) nor a comment (#)'],
    ['A: 1', 'line 1 is neither an assignment (NAME=value) nor a comment (#)'],
    ['=1', 'line 1 is neither an assignment (NAME=value) nor a comment (#)'],
    ['set A=1', 'line 1 is neither an assignment (NAME=value) nor a comment (#)'],
    ['export A', 'line 1 is neither an assignment (NAME=value) nor a comment (#)'],
    ['// A=1', 'line 1 is neither an assignment (NAME=value) nor a comment (#)'],
    ['A="x\ny"\n\n\uFEFFB=2', 'line 4 is neither an assignment (NAME=value) nor a comment (#)'],
    ['A=1\nB="x\nC=2', 'line 2 has a " that is not closed'],
    ['A=1\nB="x\ny" z\nC=3', 'line 3 has text after the closing "'],
    ['A="x\\"y"', 'line 1 has text after the closing "'],
  ])('refuses %j with the number of the line', (text, fault) => {
    expect(parseEnvFile(text).faults).toEqual([fault]);
  });

  it('continues at the line after one that it refuses', () => {
    const { values, faults } = parseEnvFile('A=1\nsecret\nB=2\nworse\nC=3');
    expect(values).toEqual({ A: '1', B: '2', C: '3' });
    expect(faults.map((fault) => fault.slice(0, 6))).toEqual(['line 2', 'line 4']);
    expect(faults.join()).not.toMatch(/secret|worse/);
  });

  it('lists the first 20 lines of a file that is no .env file', () => {
    const { faults } = parseEnvFile('{"a": 1}\n'.repeat(50));
    expect([faults.length, faults.at(-1)]).toEqual([21, 'and 30 more lines']);
  });

  // Node's parser also accepts lines that it cannot parse, and has errors of its own at empty values and `export`.
  it('returns the same as parseEnv of Node for values that both accept', () => {
    const piece = fc.constantFrom('A', '=', ' = ', '"', "'", '`', '#', ' ', '\t', '\n', '\r\n', 'x', '\\n');
    const line = fc.tuple(fc.constantFrom('A=x', 'B = y', 'C="', "D='z", '# '), fc.array(piece, { maxLength: 6 }));
    const text = fc.array(
      line.map(([start, rest]) => `${start}${rest.join('')}\n`),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(text, (lines) => {
        const { values, faults } = parseEnvFile(lines.join(''));
        // A later assignment of the same name hides an empty value that Node has read past; Node reads an indented comment.
        const isMisread = /=[ \t]*(?:#|\r?\n|$)|^[ \t]+#/m.test(lines.join(''));
        const isPlain = faults.length === 0 && !isMisread && !Object.values(values).includes('');
        expect(isPlain ? { ...parseEnv(lines.join('')) } : values).toEqual(values);
      }),
    );
  });
});
