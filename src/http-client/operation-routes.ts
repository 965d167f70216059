import type {
  Eval,
  EvalPage,
  EvalRequest,
  KeyPage,
  KeyRequest,
  McpAcceptAllRequest,
  McpAccepted,
  McpNewServerRequest,
  McpServer,
  McpServerList,
  NewKey,
  Operations,
} from './generated/operations.js';
import type { CreateOptions, HttpTransport, RequestOptions } from './http-transport.js';

/** Reports of evals. */
export class EvalRoutes {
  constructor(private readonly transport: HttpTransport) {}

  /** Stores the report of an eval that has ended. The answer has no results. */
  create(request: EvalRequest, options?: CreateOptions): Promise<Eval> {
    return this.transport.call('createEval', { body: request }, options);
  }

  /** A page of evals without their results, newest first. */
  list(query?: Operations['listEvals']['query'], options?: RequestOptions): Promise<EvalPage> {
    return this.transport.call('listEvals', { ...(query && { query }) }, options);
  }

  /** An eval with its results; `report` is a baseline of `evaluate`. */
  get(id: string, options?: RequestOptions): Promise<Eval> {
    return this.transport.call('getEval', { path: { id } }, options);
  }

  /** Deletes a report; its runs stay. */
  async delete(id: string, options?: RequestOptions): Promise<void> {
    await this.transport.call('deleteEval', { path: { id } }, options);
  }
}

/** API keys of the caller's tenant. */
export class KeyRoutes {
  constructor(private readonly transport: HttpTransport) {}

  /** Creates a key. Only this answer contains the key itself. */
  create(request: KeyRequest, options?: CreateOptions): Promise<NewKey> {
    return this.transport.call('createKey', { body: request }, options);
  }

  /** A page of keys, newest first. */
  list(query?: Operations['listKeys']['query'], options?: RequestOptions): Promise<KeyPage> {
    return this.transport.call('listKeys', { ...(query && { query }) }, options);
  }

  /** Revokes a key. */
  async revoke(id: string, options?: RequestOptions): Promise<void> {
    await this.transport.call('revokeKey', { path: { id } }, options);
  }
}

/** MCP servers; for operators. */
export class McpRoutes {
  constructor(private readonly transport: HttpTransport) {}

  /** All servers, with their status. */
  list(options?: RequestOptions): Promise<McpServerList> {
    return this.transport.call('listMcpServers', {}, options);
  }

  /** Adds an HTTP server. */
  add(request: McpNewServerRequest, options?: RequestOptions): Promise<McpServer> {
    return this.transport.call('addMcpServer', { body: request }, options);
  }

  /** Accepts the definitions of a server that wait for a person; with `dryRun` it only returns them. */
  accept(name: string, request?: McpAcceptAllRequest, options?: RequestOptions): Promise<McpAccepted> {
    return this.transport.call('acceptMcpServer', { path: { name }, ...(request && { body: request }) }, options);
  }
}
