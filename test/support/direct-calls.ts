import type { Answer, Jackdaw } from './jackdaw.js';
import type { JackdawClient } from './jackdaw-client.js';
import type { WaitingTools } from './waiting.tool.js';

type Headings = Readonly<Record<string, string>>;

export function callTool(jackdaw: JackdawClient, tool: string, body: unknown = {}, headers: Headings = {}) {
  return jackdaw.post(`/api/tools/${tool}/call`, body, headers);
}

/** Starts a call that never ends by itself. */
export async function beginHeldCall(
  jackdaw: Jackdaw,
  tools: WaitingTools,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  headers: Headings = {},
): Promise<{ readonly id: string; readonly answered: Promise<Answer> }> {
  tools.isHolding = true;
  const arrived = tools.arrived();
  const answered = callTool(jackdaw, tool, { arguments: args }, headers);
  await arrived;
  const { body } = await jackdaw.get('/api/runs?status=running', headers);
  const [run] = body['runs'] as unknown as { run_id: string }[];
  return { id: run!.run_id, answered };
}
