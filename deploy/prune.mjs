// Removes files from node_modules that a server never reads: source maps, type declarations, TypeScript sources and documents. Licences stay.
//                                              node prune.mjs [folder, by default node_modules beside this file]
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const UNUSED = /\.(?:map|d\.[cm]?ts|ts|tsx|md|markdown|flow)$/i;
const KEPT = /licen[cs]e|notice|copying/i;
const folder = process.argv[2] ?? join(import.meta.dirname, 'node_modules');

let bytes = 0;
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !UNUSED.test(entry.name) || KEPT.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  bytes += statSync(path).size;
  rmSync(path);
}
process.stdout.write(`Removed ${Math.round(bytes / 1e6)} MB from ${folder}\n`);
