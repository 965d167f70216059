import { describe, expect, it } from 'vitest';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeText, readText, withoutMark, withoutTrailing } from './json.js';

const utf16 = (text: string) => Buffer.from(text, 'utf16le');

describe('decodeText', () => {
  it.each<[string, Buffer, string]>([
    ['UTF-8', Buffer.from('ä'), 'ä'],
    ['nothing', Buffer.alloc(0), ''],
    ['one byte', Buffer.from('x'), 'x'],
    ['UTF-8 with a byte order mark', Buffer.from('\uFEFFä'), 'ä'],
    ['a byte order mark alone', Buffer.from('\uFEFF'), ''],
    ['two byte order marks', Buffer.from('\uFEFF\uFEFFx'), '\uFEFFx'],
  ])('reads %s', (_what, bytes, text) => {
    expect(decodeText(bytes)).toBe(text);
  });

  it.each<[string, Buffer]>([
    ['little-endian UTF-16', utf16('\uFEFFA=1')],
    ['big-endian UTF-16', utf16('\uFEFFA=1').swap16()],
    ['little-endian UTF-16 without a mark', utf16('A=1')],
    ['big-endian UTF-16 without a mark', utf16('A=1').swap16()],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0])],
  ])('refuses %s', (_what, bytes) => {
    expect(() => decodeText(bytes)).toThrow('it is UTF-16, and only UTF-8 is read: save it as UTF-8');
  });
});

describe('readText', () => {
  it('reads a file without its byte order mark', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'jackdaw-test-')), 'x');
    writeFileSync(path, '\uFEFFtext\uFEFF');
    expect(readText(path)).toBe('text\uFEFF');
  });
});

describe('withoutMark', () => {
  it('leaves a text without a mark unchanged', () => expect(withoutMark('x\uFEFF')).toBe('x\uFEFF'));
});

describe('withoutTrailing', () => {
  it.each([
    ['a. .', ' .', 'a'],
    ['. a', ' .', '. a'],
    ['..', '.', ''],
    ['', '.', ''],
  ])('removes the characters at the end of %j', (text, characters, result) => {
    expect(withoutTrailing(text, characters)).toBe(result);
  });

  it('is linear in the length: a text with a million such characters inside stays', () => {
    const text = `a${'.'.repeat(1_000_000)}b`;
    expect(withoutTrailing(text, '.')).toBe(text);
  });
});
