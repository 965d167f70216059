import { expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

it('the routes and types of the client are those of docs/openapi.json, by `npm run openapi:client`', () => {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-client-'));
  try {
    execFileSync(process.execPath, ['scripts/client-types.mjs', join(folder, 'operations.ts')]);
    const fresh = readFileSync(join(folder, 'operations.ts'), 'utf8');
    expect(readFileSync('src/http-client/generated/operations.ts', 'utf8')).toBe(fresh);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
