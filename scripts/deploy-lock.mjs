// Writes deploy/package-lock.json. Run it after a change of the dependencies; test/deploy-files.spec.ts fails without it.
// The entry of Jackdaw's own tarball has no integrity hash, as each build makes another one.      npm run lock:deploy
import spawn from 'cross-spawn';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'jackdaw-deploy-'));

function run(command, ...args) {
  const { status } = spawn.sync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
}

try {
  run('npm', 'pack', '--ignore-scripts', '--pack-destination', folder);
  for (const file of ['deploy/package.json', '.npmrc']) cpSync(file, join(folder, file.replace('deploy/', '')));
  run('npm', 'install', '--prefix', folder, '--package-lock-only', '--no-audit', '--no-fund');
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  delete lock.packages['node_modules/jackdaw'].integrity;
  for (const [path, entry] of Object.entries(lock.packages)) if (path !== 'node_modules/jackdaw') delete entry.resolved;
  writeFileSync('deploy/package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
