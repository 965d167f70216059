// Runs before our scripts on the Node that npm found, so it supports very old versions: no const, no `?.`.
//   node scripts/check-node.cjs             ends with one line if this Node is too old
//   node scripts/check-node.cjs --install   instead installs Node 24 into node_modules, at the end of `npm ci`; where
//                                           that is impossible it does nothing
'use strict';
var childProcess = require('child_process');
var fs = require('fs');
var path = require('path');

var ROOT = path.join(__dirname, '..');
var MODULES = path.join(ROOT, 'node_modules');
var HOME = path.join(MODULES, '.node');

function isSuitable() {
  var version = process.versions.node.split('.').map(Number);
  var isRecent = version[0] > 22 || (version[0] === 22 && version[1] >= 19);
  return isRecent && Number(process.versions.napi) >= 10;
}

/** Whether the published programs of Node run here: they need glibc, which Alpine lacks. */
function isGlibc() {
  if (process.platform !== 'linux' || !process.report) return false;
  return Boolean(process.report.getReport().header.glibcVersionRuntime);
}

/** Installs the packages of scripts/node beside those of the project, and puts their program first in the PATH of scripts. */
function install() {
  var name = 'node-linux-' + process.arch;
  fs.mkdirSync(HOME, { recursive: true });
  ['package.json', 'package-lock.json'].forEach(function (file) {
    fs.copyFileSync(path.join(__dirname, 'node', file), path.join(HOME, file));
  });
  var options = [
    '--prefix',
    HOME,
    '--include=optional',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  run([process.env.npm_execpath, 'ci'].concat(options));
  var program = path.join(HOME, 'node_modules', name, 'bin', 'node');
  run(['-e', ''], program);
  var bin = path.join(MODULES, '.bin');
  fs.mkdirSync(bin, { recursive: true });
  fs.rmSync(path.join(bin, 'node'), { force: true });
  fs.symlinkSync(path.relative(bin, program), path.join(bin, 'node'));
  // Where the package `node` has it: other programs look there.
  var home = path.join(MODULES, 'node');
  fs.rmSync(home, { force: true, recursive: true });
  fs.symlinkSync(path.join('.node', 'node_modules', name), home);
}

function run(args, program) {
  var result = childProcess.spawnSync(program || process.execPath, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (result.status !== 0) throw result.error || new Error('exit code ' + result.status);
}

function refuse() {
  console.error(
    'Jackdaw needs Node 22.19 or newer; this is Node ' +
      process.versions.node +
      '. Install Node 24 (https://nodejs.org)' +
      (isGlibc() ? ', or run `npm run dependencies`, which installs it into node_modules.' : '.'),
  );
  process.exit(1);
}

if (!isSuitable()) {
  if (process.argv[2] !== '--install') refuse();
  try {
    if (isGlibc()) install();
  } catch (error) {
    console.error('Node 24 could not be installed into node_modules: ' + error.message);
  }
}
