// Preloaded by `node --import`: the wall clock of the process is ahead by the ms in the file CLOCK_FILE.
import { readFileSync } from 'node:fs';

const Real = Date;
const now = () => Real.now() + Number(readFileSync(process.env.CLOCK_FILE, 'utf8'));
globalThis.Date = class extends Real {
  constructor(...parts) {
    if (parts.length === 0) super(now());
    else super(...parts);
  }
  static now() {
    return now();
  }
};
