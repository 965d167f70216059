import type { McpChange } from '../mcp-changes.service.js';
import type { Connection } from './connection.factory.js';

/** Notifies a client of a change; errors of a disconnected client are ignored. */
export function publishChange({ server, subscriptions }: Connection, change: McpChange): void {
  sent({ server, subscriptions }, change)?.catch(() => undefined);
}

function sent({ server, subscriptions }: Connection, change: McpChange): Promise<void> | undefined {
  switch (change.kind) {
    case 'tools':
      return server.sendToolListChanged();
    case 'prompts':
      return server.sendPromptListChanged();
    case 'resources':
      return server.sendResourceListChanged();
    case 'resource':
      return subscriptions.has(change.uri) ? server.sendResourceUpdated({ uri: change.uri }) : undefined;
  }
}
