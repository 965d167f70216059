import type {
  MessagePage,
  Operations,
  Session,
  SessionExport,
  SessionImportRequest,
  SessionPage,
  SessionRequest,
} from './generated/operations.js';
import type { CreateOptions, HttpTransport, RequestOptions } from './http-transport.js';

/** Sessions: conversations with their turns. */
export class SessionRoutes {
  constructor(private readonly transport: HttpTransport) {}

  /** Creates an empty session. */
  create(request?: SessionRequest, options?: CreateOptions): Promise<Session> {
    return this.transport.call('createSession', { ...(request && { body: request }) }, options);
  }

  /** A page of sessions, newest first. */
  list(query?: Operations['listSessions']['query'], options?: RequestOptions): Promise<SessionPage> {
    return this.transport.call('listSessions', { ...(query && { query }) }, options);
  }

  /** A session, without its messages. */
  get(id: string, options?: RequestOptions): Promise<Session> {
    return this.transport.call('getSession', { path: { id } }, options);
  }

  /** A page of messages, in whole turns, oldest first. */
  messages(id: string, query?: Operations['listMessages']['query'], options?: RequestOptions): Promise<MessagePage> {
    return this.transport.call('listMessages', { path: { id }, ...(query && { query }) }, options);
  }

  /** Deletes a session. @throws JackdawError 409 while a run uses it */
  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.transport.call('deleteSession', { path: { id } }, options);
  }

  /** The session as signed JSON, for `import`. */
  export(id: string, options?: RequestOptions): Promise<SessionExport> {
    return this.transport.call('exportSession', { path: { id } }, options);
  }

  /** Creates a session from an export. */
  import(request: SessionImportRequest, options?: CreateOptions): Promise<Session> {
    return this.transport.call('importSession', { body: request }, options);
  }
}
