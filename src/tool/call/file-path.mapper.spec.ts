import { describe, expect, it } from 'vitest';
import { homedir } from 'node:os';
import { maskPaths } from './file-path.mapper.js';

describe('maskPaths', () => {
  it.each([
    ["open '/srv/app/data/my notes.txt'", "open '[path]'"],
    ['at /home/u/x.ts:3:4, (C:\\Users\\me\\a.txt) file:///etc/passwd.', 'at [path]:3:4, ([path]) [path].'],
    ['path=/etc/shadow ~/.ssh/id_rsa \\\\server\\share\\x', 'path=[path] [path] [path]'],
    ['{"file":"/vol1/deploy/key.pem"}', '{"file":"[path]"}'],
    [`no ${process.cwd()} and no ${homedir()}/x`, 'no [path] and no [path]'],
  ])('masks paths of files: %s', (text, masked) => {
    expect(maskPaths(text)).toBe(masked);
  });

  it.each([
    'Cannot GET /app/orders.json',
    '404 for https://host/home/x.html and /api/v1/users/5',
    './src/a.ts and ../b/c.ts and dist/a.js',
    'read/write, 1/2, and/or, // a comment, \\d+\\w, "\\n"',
    '/',
  ])('keeps other texts: %s', (text) => {
    expect(maskPaths(text)).toBe(text);
  });

  it.each([
    ['/home/u/proj', 'open /home/u/proj/a.txt in /home/u', 'open /home/u/proj/a.txt in /home/u'],
    ['/home/u/proj', '/home/u/project/a.txt', '[path]'],
    ['Read /etc/hosts, please.', 'no /etc/hosts, no /etc/shadow', 'no /etc/hosts, no [path]'],
    ['C:\\data', 'C:\\data\\a.txt', 'C:\\data\\a.txt'],
    ['/', '/home/u/a', '[path]'],
  ])('keeps paths of the arguments and paths below them: %s', (given, text, masked) => {
    expect(maskPaths(text, { list: [{ given }] })).toBe(masked);
  });
});
