import { askClient, McpClients, mcpContent, Tool, ToolContext, withImages } from '../../src/index.js';
import { gate } from './jackdaw.js';

const WEIGHED = {
  type: 'object',
  properties: { grams: { type: 'number' } },
  required: ['grams'],
  additionalProperties: false,
} as const;
const THING = { type: 'object', properties: { thing: { type: 'string' } }, required: ['thing'] } as const;

/** Tools for MCP clients, each for one feature of the protocol. */
export class McpTestTools {
  /** Set when the application exists. */
  clients: McpClients | undefined;
  /** Opened when `hold` is called. */
  held = gate();
  /** The id of the run of the held call. */
  heldRun = '';
  /** Opened when a held call is aborted. */
  aborted = gate();

  @Tool({ description: 'Weighs a thing.', effect: 'read', input: THING, output: WEIGHED })
  weigh({ thing }: { thing: string }): unknown {
    if (thing === 'nothing') throw new Error('the scales are empty');
    return { grams: thing.length };
  }

  @Tool({ description: 'Counts.', effect: 'idempotent', output: { type: 'array', items: { type: 'integer' } } })
  count(): number[] {
    return [1, 2, 3];
  }

  @Tool({ description: 'Reads a page.', effect: 'read', untrusted: true })
  read_page(): string {
    return 'a page';
  }

  @Tool({ description: 'Draws.', effect: 'read' })
  draw(): unknown {
    return mcpContent([{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }]);
  }

  @Tool({ description: 'Paints, and reports it.', effect: 'read' })
  paint(): unknown {
    return withImages({ title: 'A tree' }, ['data:image/png;base64,iVBORw0KGgo=', 'https://example.com/tree.png']);
  }

  @Tool({ description: 'Goes step by step.', effect: 'read' })
  walk(@ToolContext() context: ToolContext): string {
    const client = this.clients?.of(context);
    for (const step of [1, 2, 3]) {
      context.progress(step, 3, `step ${step}`);
      client?.log('info', `step ${step}`);
    }
    return 'arrived';
  }

  @Tool({ description: 'Never ends by itself.', effect: 'read' })
  async hold(@ToolContext() { signal, runId }: ToolContext): Promise<string> {
    this.heldRun = runId;
    signal.addEventListener('abort', () => this.aborted.open());
    this.held.open();
    await this.aborted.opened;
    return 'released';
  }

  @Tool({ description: 'Asks the client’s model and its user.', effect: 'read' })
  poll(@ToolContext() { answer }: ToolContext): unknown {
    if (answer) return answer.value;
    return askClient({
      name: {
        method: 'elicitation/create',
        params: {
          mode: 'form',
          message: 'Who are you?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        },
      },
      joke: {
        method: 'sampling/createMessage',
        params: { messages: [{ role: 'user', content: { type: 'text', text: 'A joke!' } }], maxTokens: 10 },
      },
    });
  }
}
