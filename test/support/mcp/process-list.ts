import { readdirSync, readFileSync } from 'node:fs';

/** Processes whose command line contains a text, except for zombies. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && commandOf(entry).includes(text))
    .map(Number);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
