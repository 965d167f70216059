// Run it after every `npm install` that changes package-lock.json (`npm run lock`); test/install.spec.ts says when.
import { readFileSync, writeFileSync } from 'node:fs';

const OS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const CPU = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64'];
const LIBC = { gnu: 'glibc', musl: 'musl' };

/** The lock entry of a prebuilt package for another machine, from its name: @swc/core-linux-x64-gnu and the like. */
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

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const packages = lock.packages;

// npm leaves out the prebuilt packages of platforms it could not look up, and `npm ci` then refuses the lock there.
for (const [path, parent] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    if (packages[`node_modules/${name}`] || packages[`${path}/node_modules/${name}`]) continue;
    const entry = /^\d/.test(version) && platformEntry(name, version, parent);
    if (entry) packages[`node_modules/${name}`] = entry;
  }
}

// The lock names no registry, so that everybody installs from their own.
for (const entry of Object.values(packages)) {
  if (entry.resolved?.startsWith('http')) delete entry.resolved;
}

// It carries its binaries and says `gypfile: false`, which npm does not copy into the lock: without it `npm ci` runs
// node-gyp, which fails on a machine without Python.
packages['node_modules/better-sqlite3'].gypfile = false;

lock.packages = Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => a.localeCompare(b, 'en')));
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
