// Run this script after every `npm install` that changes package-lock.json (`npm run lock`); test/install.spec.ts fails without it.
// `npm run lock -- --check` only checks that every entry has an integrity hash.
import spawn from 'cross-spawn';
import { readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const OS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const CPU = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64'];
const LIBC = { gnu: 'glibc', musl: 'musl' };

/** The lock entry of a prebuilt package for another platform, derived from a name such as @swc/core-linux-x64-gnu. */
function platformEntry(name, version, parent) {
  const words = name.split(/[/-]/);
  const os = words.find((word) => OS.includes(word));
  const cpu = words.find((word) => CPU.includes(word));
  if (!os || !cpu) return undefined;
  const libc = os === 'linux' && words.map((word) => LIBC[word]).find(Boolean);
  return {
    version,
    cpu: [cpu],
    ...(parent.dev && { dev: true }),
    ...(libc && { libc: [libc] }),
    optional: true,
    os: [os],
  };
}

/** Paths of the lock entries that `npm ci` would install without checking their content. */
function withoutIntegrity(packages) {
  return Object.keys(packages).filter((path) => path && !packages[path].link && !packages[path].integrity);
}

/** The integrity hash that the registry publishes for the package of a lock entry. */
async function publishedIntegrity(path, { name = path.split('node_modules/').at(-1), version }) {
  const child = spawn('npm', ['view', `${name}@${version}`, 'dist.integrity'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const hash = (await text(child.stdout)).trim();
  if (!/^sha\d+-/.test(hash)) throw new Error(`The registry has no integrity hash of ${name}@${version}.`);
  return hash;
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const packages = lock.packages;

if (process.argv.includes('--check')) {
  const missing = withoutIntegrity(packages);
  for (const path of missing)
    console.error(`${path} has no integrity hash in package-lock.json: run \`npm run lock\`.`);
  process.exit(missing.length > 0 ? 1 : 0);
}

// npm omits prebuilt packages of platforms that it could not look up, and `npm ci` then refuses the lock file there.
for (const [path, parent] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    if (packages[`node_modules/${name}`] || packages[`${path}/node_modules/${name}`]) continue;
    const entry = /^\d/.test(version) && platformEntry(name, version, parent);
    if (entry) packages[`node_modules/${name}`] = entry;
  }
}

// npm writes no hash for a package that it did not download.
const open = withoutIntegrity(packages);
const LOOKUPS_AT_ONCE = 4;
await Promise.all(
  Array.from({ length: LOOKUPS_AT_ONCE }, async () => {
    for (let path = open.pop(); path; path = open.pop()) {
      packages[path].integrity = await publishedIntegrity(path, packages[path]);
    }
  }),
);

// The lock file names no registry, so that each user installs from the configured one.
for (const entry of Object.values(packages)) {
  if (entry.resolved?.startsWith('http')) delete entry.resolved;
}

// The package ships its binaries and declares `gypfile: false`, which npm does not copy into the lock file. Without it
// `npm ci` runs node-gyp, which fails on a machine without Python.
packages['node_modules/better-sqlite3-v13'].gypfile = false;

lock.packages = Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => a.localeCompare(b, 'en')));
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
