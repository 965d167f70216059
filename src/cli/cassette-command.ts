import { writeFileSync } from 'node:fs';
import { parseExactJson } from '../kernel/json/index.js';
import type { ExportedRun } from '../run/replay/index.js';
import { usageError } from './cli.error.js';
import type { Call, Command } from './command.types.js';
import { isFile, readText } from './replay-command.js';
import { exportOf } from './run-commands.js';

/** Writes cassettes for tests. */
export const CASSETTE_COMMAND: Command = {
  name: 'cassette from-run',
  summary: 'Write a cassette from production runs, with secrets and personal data masked',
  arguments: [{ name: 'run', help: 'Ids of runs that have ended, or files of `runs export`', isRest: true }],
  options: {
    output: { value: 'file', help: 'A new file; by default standard output' },
    mask: { value: 'text', help: 'A further text to mask, such as a name; may be repeated', isMultiple: true },
  },
  json: 'The lines of the cassette (docs/testing.md)',
  run: async (call) => {
    const [{ cassetteOfRuns }, runs] = await Promise.all([import('../testing-entry.js'), readRuns(call)]);
    const { lines, notes } = cassetteOfRuns(runs, { mask: call.texts('mask') });
    for (const note of notes) call.terminal.note(note);
    const file = call.text('output');
    if (file === undefined) return lines.forEach((line) => call.terminal.jsonLine(parseExactJson(line)));
    writeNew(file, lines.map((line) => `${line}\n`).join(''));
    call.terminal.note(`${lines.length} lines are written to ${file}. Check them for names and other private texts.`);
  },
};

/** The runs, and the child runs of those that are named by id. */
async function readRuns(call: Call): Promise<ExportedRun[]> {
  const { parseExportedRun } = await import('../testing-entry.js');
  const runs = new Map<string, ExportedRun>();
  const parse = (name: string, text: string) => {
    try {
      return parseExportedRun(text);
    } catch (error) {
      throw usageError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const add = async (id: string): Promise<void> => {
    call.interrupt.signal.throwIfAborted();
    if (runs.has(id)) return;
    const run = parse(id, await exportOf(await call.connect(), id));
    runs.set(id, run);
    for (const child of Object.keys(run.children)) await add(child);
  };
  for (const word of call.args) {
    if (!isFile(word)) await add(word);
    else {
      const run = parse(word, readText(word));
      runs.set(run.run_id, run);
    }
  }
  return [...runs.values()];
}

function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw usageError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}
