#!/usr/bin/env node
// The command line `jackdaw` (docs/cli.md). No static imports: imported modules may fail to load on an older Node.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19) || Number(process.versions.napi) < 10) {
  process.stderr.write(`Jackdaw needs Node 22.19 or newer, this is ${process.version}. Install Node 24.\n`);
  process.exit(1);
}

const { runCli } = await import('./cli/index.js');
await runCli(process.argv.slice(2));

export {};
