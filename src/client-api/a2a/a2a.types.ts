/**
 * The objects of A2A 1.0 in JSON, as far as Jackdaw sends them. An optional member is absent, never `null` or empty.
 * @see https://a2a-protocol.org/latest/specification/
 */

/** The versions of the protocol that this server speaks. */
export const A2A_VERSIONS = ['1.0', '0.3'] as const;
export type A2aVersion = (typeof A2A_VERSIONS)[number];

/** A server that declares it takes a repeated `messageId` for the same message: a task starts once. */
export const IDEMPOTENT_MESSAGES = 'urn:jackdaw:a2a:idempotent-messages:v1';

export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

type Metadata = Readonly<Record<string, unknown>>;

/** Has exactly one of `text`, `raw` (base64), `url` and `data`. */
export interface A2aPart {
  readonly text?: string;
  readonly raw?: string;
  readonly url?: string;
  readonly data?: unknown;
  readonly mediaType?: string;
}

export interface A2aMessage {
  readonly messageId: string;
  readonly role: 'ROLE_USER' | 'ROLE_AGENT';
  readonly parts: readonly A2aPart[];
  readonly contextId?: string;
  readonly taskId?: string;
  readonly metadata?: Metadata;
}

export interface A2aArtifact {
  readonly artifactId: string;
  readonly name: string;
  readonly parts: readonly A2aPart[];
}

export interface TaskStatus {
  readonly state: TaskState;
  readonly message?: A2aMessage;
  /** ISO 8601. */
  readonly timestamp: string;
}

export interface A2aTask {
  readonly id: string;
  readonly contextId?: string;
  readonly status: TaskStatus;
  readonly artifacts?: readonly A2aArtifact[];
  readonly history?: readonly A2aMessage[];
  readonly metadata?: Metadata;
}

interface OfTask {
  readonly taskId: string;
  readonly contextId: string;
}

/** A frame of a stream. */
export type StreamResponse =
  | { readonly task: A2aTask }
  | { readonly statusUpdate: OfTask & { readonly status: TaskStatus; readonly metadata?: Metadata } }
  | {
      readonly artifactUpdate: OfTask & {
        readonly artifact: A2aArtifact;
        readonly append?: boolean;
        readonly lastChunk?: boolean;
      };
    };

export interface TaskPage {
  readonly tasks: readonly A2aTask[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}
