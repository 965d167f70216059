import {
  JackdawError,
  type JackdawClient,
  type RunAnswer,
  type RunEvent,
  type RunStream,
} from '../http-client/index.js';
import { EXIT } from './cli.error.js';
import type { Call } from './command.types.js';
import { DecisionPrompt } from './decision-prompt.js';
import { localTime, type Terminal } from './terminal.js';

type Waiting = NonNullable<RunAnswer['waiting']>;

/** Writes the text of a run while it grows. */
export class TextDisplay {
  /** The written part of the current message. */
  private written = '';

  constructor(private readonly terminal: Terminal) {}

  take(event: RunEvent): void {
    const { type } = event;
    if (type === 'message.delta') this.append(event.text);
    else if (type === 'step.restarted') this.replace(event.text);
    else if (type === 'message.completed') this.complete(event.text);
    else if (type === 'tool.started') this.note(`${event.tool} ${event.arguments}`);
    else if (type === 'tool.completed' && !event.success) this.note(`${event.tool} failed: ${event.error ?? ''}`);
  }

  private append(text: string): void {
    this.terminal.write(text);
    this.written += text;
  }

  private complete(text: string): void {
    this.replace(text);
    this.terminal.endLine();
    this.written = '';
  }

  /** Another text than the written one starts on a new line. */
  private replace(text: string): void {
    if (text.startsWith(this.written)) this.terminal.write(text.slice(this.written.length));
    else {
      this.terminal.endLine();
      this.terminal.write(text);
    }
    this.written = text;
  }

  private note(text: string): void {
    if (this.terminal.isPerson) this.terminal.note(`[${text}]`);
  }
}

/** Writes each event as a line. */
export class EventDisplay {
  constructor(
    private readonly terminal: Terminal,
    private readonly isJson: boolean,
  ) {}

  take(event: RunEvent): void {
    if (this.isJson) return this.terminal.jsonLine(event);
    if (event.type === 'message.delta' || event.type === 'step.started') return;
    const { type, ...members } = event;
    const details = Object.entries(members)
      .filter(([name, value]) => name !== 'run_id' && value !== undefined && value !== null && value !== '')
      .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
    this.terminal.table([{ title: type.padEnd('message.completed'.length) }, { title: details.join(' ') }], []);
  }
}

/**
 * Shows a run until it ends or waits. On a terminal it asks for the decisions and continues.
 * @returns the run
 * @throws JackdawError if the run failed; the reason of an interrupt
 */
export async function showRun(
  call: Call,
  client: JackdawClient,
  stream: RunStream,
  display: { take(event: RunEvent): void },
): Promise<RunAnswer> {
  const { signal } = call.interrupt;
  const prompt = new DecisionPrompt(call, client);
  for (;;) {
    let last: RunEvent | undefined;
    for await (const event of stream) display.take((last = event));
    signal.throwIfAborted();
    if (last?.type === 'run.failed') throw new JackdawError(last.error.code, last.error.message);
    const run = await client.runs.get(stream.runId ?? '', { signal });
    if (run.status !== 'waiting' || !(await isDecided(call, prompt, run))) return run;
  }
}

/** Asks for the decisions of a waiting run, or notes them where no person can answer. */
async function isDecided(call: Call, prompt: DecisionPrompt, run: RunAnswer): Promise<boolean> {
  const { run_id: id, waiting = [] } = run;
  if (!call.terminal.isPerson) {
    if (!call.isJson) noteWaiting(call, id, waiting);
    return false;
  }
  if (await prompt.decide(id, waiting)) return true;
  call.terminal.note(`The run ${id} waits: jackdaw runs follow ${id}`);
  return false;
}

export function noteWaiting(call: Call, runId: string, requests: Waiting): void {
  call.terminal.note(`The run ${runId} waits for a person:`, 'bold');
  for (const request of requests) call.terminal.note(`  ${describeRequest(request)}`);
}

export function describeRequest({
  kind,
  tool,
  arguments: text,
  call_id: id,
  question,
  expires_at: end,
}: Waiting[number]): string {
  if (kind === 'restored') return 'restored: the database was restored or copied; see jackdaw runs release';
  const expiry = end === null ? '' : ` until ${localTime(end)}`;
  return `${kind}${expiry}: ${question ?? `${tool} ${text}`}${id === '' ? '' : ` (--call ${id})`}`;
}

/** The exit code for the status of a run. */
export function exitCodeOf(status: string | undefined): number {
  if (status === 'waiting') return EXIT.waiting;
  return status === 'failed' || status === 'cancelled' ? EXIT.failed : EXIT.ok;
}
