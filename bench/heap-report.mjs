// Loaded before a server (--import, with --expose-gc): at SIGUSR2 it collects the garbage and appends the bytes of live JavaScript
// memory as a line to the file `heap` in DATA_DIR.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

process.on('SIGUSR2', () => {
  for (let n = 0; n < 2; n++) globalThis.gc();
  appendFileSync(join(process.env.DATA_DIR, 'heap'), `${process.memoryUsage().heapUsed}\n`);
});
