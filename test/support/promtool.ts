import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** promtool of Debian's package prometheus; `PROMTOOL_PATH` names another one. */
const PROMTOOL = process.env['PROMTOOL_PATH'] ?? 'promtool';

/** Runs promtool. @returns its exit code and its output */
export async function promtool(args: readonly string[], input = ''): Promise<{ code: number | null; output: string }> {
  const child = spawn(PROMTOOL, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = Promise.withResolvers<number | null>();
  child.once('error', ended.reject).once('close', ended.resolve);
  child.stdin.end(input);
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended.promise]);
  return { code, output: out + err };
}

/** Whether tests with promtool can run; in CI they fail without it. */
export const hasPromtool = process.env['CI'] !== undefined || spawnSync(PROMTOOL, ['--version']).error === undefined;
