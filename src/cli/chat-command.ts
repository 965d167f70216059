import type { JackdawClient, RunAnswer } from '../http-client/index.js';
import { usageError } from './cli.error.js';
import type { Call, Command } from './command.types.js';
import { exitCodeOf, showRun, TextDisplay } from './run-display.js';
import { given } from './value.parser.js';

interface Turn {
  readonly agent?: string;
  readonly model?: string;
  readonly sessionId?: string;
}

/** Sends a message to an agent, or converses with it. */
export const CHAT_COMMAND: Command = {
  name: 'chat',
  summary: 'Send a message to an agent; without one, the standard input, or a conversation on a terminal',
  arguments: [{ name: 'message', help: 'The message', isOptional: true, isRest: true }],
  options: {
    agent: { value: 'name', help: 'Agent; by default the default agent' },
    session: { value: 'id', help: 'Session to continue; by default a new one' },
    model: { value: 'name', help: 'Another model, such as openai:gpt-5-mini' },
  },
  json: 'RunAnswerDto',
  run: async (call) => {
    const turn = given({ agent: call.text('agent'), model: call.text('model'), sessionId: call.text('session') });
    const message = call.args.join(' ');
    if (message === '' && call.terminal.isPerson) return converse(call, turn);
    const query = message === '' ? (await call.terminal.input()).trim() : message;
    if (query === '') throw usageError('The message is empty: give it as an argument or on standard input.');
    const { client } = await call.connect('execute');
    const run = await send(call, client, query, turn);
    if (call.isJson) call.terminal.json(run);
    return exitCodeOf(run.status);
  },
};

/** Ctrl+C cancels the run of the present message, and ends the conversation at the prompt, as Ctrl+D does. */
async function converse(call: Call, first: Turn): Promise<number> {
  const { client } = await call.connect('execute');
  const { terminal, interrupt } = call;
  terminal.note('Ctrl+C cancels an answer, Ctrl+D ends the conversation.');
  let turn = first;
  let code = exitCodeOf(undefined);
  for (;;) {
    const query = (await terminal.ask('> '))?.trim();
    if (query === undefined) return code;
    if (query === '') continue;
    try {
      const run = await send(call, client, query, turn);
      turn = { ...turn, ...(run.session_id !== null && { sessionId: run.session_id }) };
      code = exitCodeOf(run.status);
    } catch (error) {
      if (interrupt.isUnread) throw error;
      code = exitCodeOf('failed');
      const text = error instanceof Error ? error.message : String(error);
      terminal.note(interrupt.signal.aborted ? 'Cancelled.' : text, 'red');
      interrupt.renew();
    }
  }
}

async function send(call: Call, client: JackdawClient, query: string, turn: Turn): Promise<RunAnswer> {
  const { signal } = call.interrupt;
  const stream = client.stream({ ...turn, query }, { signal, cancelOnAbort: true });
  const display = call.isJson ? { take: () => undefined } : new TextDisplay(call.terminal);
  return showRun(call, client, stream, display);
}
