import { isJsonObject } from '../../kernel/json/index.js';
import { A2aError } from './a2a.error.js';
import type { A2aArtifact, A2aMessage, A2aPart, A2aTask, StreamResponse, TaskState, TaskStatus } from './a2a.types.js';
import { isTerminalState } from './task.builder.js';

/** Version 0.3 of A2A, in terms of 1.0. It has JSON-RPC only. */

type Given = Readonly<Record<string, unknown>>;

const METHODS: Readonly<Record<string, string>> = {
  'message/send': 'SendMessage',
  'message/stream': 'SendStreamingMessage',
  'tasks/get': 'GetTask',
  'tasks/cancel': 'CancelTask',
  'tasks/resubscribe': 'SubscribeToTask',
  'tasks/pushNotificationConfig/set': 'CreateTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/list': 'ListTaskPushNotificationConfigs',
  'tasks/pushNotificationConfig/delete': 'DeleteTaskPushNotificationConfig',
  'agent/getAuthenticatedExtendedCard': 'GetExtendedAgentCard',
};

/** @throws A2aError `METHOD_NOT_FOUND` */
export function fromFormerRequest(
  method: string,
  params: unknown,
): { readonly method: string; readonly params: unknown } {
  const current = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (current === undefined) {
    const name = JSON.stringify(method.slice(0, 100));
    const message = `A2A 0.3, the version of a request without the header "A2A-Version", has no method ${name}.`;
    throw new A2aError('METHOD_NOT_FOUND', message);
  }
  if (!isJsonObject(params) || !('message' in params)) return { method: current, params };
  const { message, configuration, ...more } = params as Given;
  const given = { ...more, message: fromMessage(message) };
  return {
    method: current,
    params: { ...given, ...(isJsonObject(configuration) && { configuration: fromOptions(configuration) }) },
  };
}

/** The result of a method of 0.3. */
export function toFormerResult(result: object): object {
  if ('task' in result) return toTask(result.task as A2aTask);
  return 'status' in result ? toTask(result as A2aTask) : result;
}

/** A frame of a stream of 0.3. */
export function toFormerFrame(response: StreamResponse): object {
  if ('task' in response) return toTask(response.task);
  if ('statusUpdate' in response) {
    const { status, ...update } = response.statusUpdate;
    const isFinal = isTerminalState(status.state) || status.state === 'TASK_STATE_INPUT_REQUIRED';
    return { kind: 'status-update', ...update, status: toStatus(status), final: isFinal };
  }
  const { artifact, ...update } = response.artifactUpdate;
  return { kind: 'artifact-update', ...update, artifact: toArtifact(artifact) };
}

function fromMessage(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  const { role, parts, ...more } = message as Given;
  return {
    ...more,
    role: role === 'user' ? 'ROLE_USER' : role,
    parts: Array.isArray(parts) ? parts.map(fromPart) : parts,
  };
}

function fromPart(part: unknown): unknown {
  if (!isJsonObject(part)) return part;
  const { kind, text, file, data, metadata } = part as Given;
  if (kind === 'text') return { text };
  if (kind === 'data') return { data: isWrapped(metadata, data) ? data['value'] : data };
  if (kind !== 'file' || !isJsonObject(file)) return {};
  const { bytes, uri, mimeType } = file as Given;
  return {
    ...(bytes === undefined ? { url: uri } : { raw: bytes }),
    ...(mimeType !== undefined && { mediaType: mimeType }),
  };
}

function fromOptions({ blocking, pushNotificationConfig, ...more }: Given): Given {
  return {
    ...more,
    returnImmediately: blocking === false,
    ...(pushNotificationConfig !== undefined && { taskPushNotificationConfig: pushNotificationConfig }),
  };
}

/** The data of a part is an object in 0.3; other values are wrapped. */
const WRAPPED = 'data_part_compat';

function isWrapped(metadata: unknown, data: unknown): data is Given {
  return isJsonObject(metadata) && (metadata as Given)[WRAPPED] === true && isJsonObject(data);
}

function toTask({ status, artifacts = [], history = [], ...task }: A2aTask): object {
  return {
    kind: 'task',
    contextId: '',
    ...task,
    status: toStatus(status),
    artifacts: artifacts.map(toArtifact),
    history: history.map(toMessage),
  };
}

function toStatus({ state, message, timestamp }: TaskStatus): object {
  return { state: toState(state), ...(message && { message: toMessage(message) }), timestamp };
}

function toState(state: TaskState): string {
  return state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-');
}

function toMessage({ role, parts, ...message }: A2aMessage): object {
  return { kind: 'message', ...message, role: role === 'ROLE_USER' ? 'user' : 'agent', parts: parts.map(toPart) };
}

function toArtifact({ parts, ...artifact }: A2aArtifact): object {
  return { ...artifact, parts: parts.map(toPart) };
}

function toPart({ text, raw, url, data, mediaType }: A2aPart): object {
  if (text !== undefined) return { kind: 'text', text };
  const type = mediaType !== undefined && { mimeType: mediaType };
  if (raw !== undefined) return { kind: 'file', file: { bytes: raw, ...type } };
  if (url !== undefined) return { kind: 'file', file: { uri: url, ...type } };
  return isJsonObject(data)
    ? { kind: 'data', data }
    : { kind: 'data', data: { value: data }, metadata: { [WRAPPED]: true } };
}
