import type { WaitingRequest } from '../run/decision/index.js';

/** The reply of a run that waits for a person, in protocols without a form for it. */
export function waitingText(runId: string, requests: readonly WaitingRequest[]): string {
  const what = requests.map(({ kind, tool, question }) => `${kind} (${tool})${question ? `: ${question}` : ''}`);
  return `The run ${runId} waits for a person: ${what.join('; ')}. Decide at /api/runs/${runId} or in the console; the run then continues.`;
}
