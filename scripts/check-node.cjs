// Runs before our scripts on the Node that npm found, so it supports very old versions: no const, no `?.`.
'use strict';

var version = process.versions.node.split('.').map(Number);
var isRecent = version[0] > 22 || (version[0] === 22 && version[1] >= 19);
var hasNativeApi = Number(process.versions.napi) >= 10;

if (!isRecent || !hasNativeApi) {
  console.error(
    [
      'Jackdaw needs Node 22.19 or newer (24 is best); this is Node ' + process.versions.node + '.',
      'npm scripts use the Node 24 that `npm ci` installs into node_modules. It is missing here, most often because',
      'install scripts were off (--ignore-scripts) or development dependencies were left out. Do one of these:',
      '  npm rebuild node     fetch it now',
      '  npm ci               install everything again, with scripts',
      '  install Node 24 on this machine (https://nodejs.org)',
    ].join('\n'),
  );
  process.exit(1);
}
