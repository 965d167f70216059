import { Injectable, type OnModuleInit } from '@nestjs/common';
import { askClient, McpClients, mcpContent, McpPrompts, McpResources, Tool, ToolContext } from '../../src/index.js';

@Injectable()
export class Desk implements OnModuleInit {
  constructor(
    private readonly clients: McpClients,
    private readonly prompts: McpPrompts,
    private readonly resources: McpResources,
  ) {}

  onModuleInit(): void {
    this.resources.register({
      uri: 'docs://pages/{page}',
      name: 'page',
      description: 'A page of the handbook.',
      mimeType: 'text/markdown',
      read: ({ page }, principal) => (page === 'one' ? { text: `# One, for ${principal.id}` } : null),
    });
    this.prompts.register({
      name: 'greet',
      description: 'Greets a person.',
      arguments: [{ name: 'who', required: true }],
      get: ({ who }) => [{ role: 'user', content: { type: 'text', text: `Greet ${who}.` } }],
    });
  }

  @Tool({ description: 'Draws a red point.', effect: 'read' })
  point(): unknown {
    return mcpContent([{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }]);
  }

  @Tool({ description: 'Asks the model of the client for a sentence.', effect: 'read' })
  ask(@ToolContext() context: ToolContext): unknown {
    if (context.answer) return context.answer.value;
    this.clients.of(context)?.log('info', 'asking your model');
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Say something.' } }];
    return askClient({ said: { method: 'sampling/createMessage', params: { messages, maxTokens: 50 } } });
  }
}
