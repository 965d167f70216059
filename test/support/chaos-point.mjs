import { writeSync } from 'node:fs';

const [POINT, NTH = '1'] = (process.env.CHAOS_POINT ?? '').split(':');
let left = Number(NTH);

/** Ends the process, as a power cut would, if it is to die at this point. */
export function reach(point) {
  if (point !== POINT || --left > 0) return;
  writeSync(1, `died at ${point}\n`);
  process.kill(process.pid, 'SIGKILL');
}
