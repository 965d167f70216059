import { z } from 'zod';
import { TASK_STATES } from './a2a.types.js';

const MAX_PARTS = 200;
const MAX_TASKS = 100;

/** ProtoJSON may write the empty string for an absent value. */
const name = z.string().max(500).transform(emptyAsAbsent).optional();
const id = z.string().min(1).max(500);
/** Routes requests behind one URL; no interface of this server declares one. */
const tenant = z.literal('').optional();
const historyLength = z.int().min(0).optional();
const CONTENTS = ['text', 'raw', 'url', 'data'] as const;

const partSchema = z
  .looseObject({
    text: z.string().optional(),
    raw: z.string().optional(),
    url: z.string().optional(),
    data: z.unknown().optional(),
    mediaType: z.string().optional(),
  })
  .refine(
    (part) => CONTENTS.filter((content) => part[content] !== undefined).length === 1,
    'must have one of text, raw, url and data',
  );
export type GivenPart = z.output<typeof partSchema>;

const messageSchema = z.looseObject({
  messageId: id,
  role: z.literal('ROLE_USER'),
  parts: z.array(partSchema).min(1).max(MAX_PARTS),
  contextId: name,
  taskId: name,
  metadata: z.record(z.string(), z.unknown()).optional(),
});
export type GivenMessage = z.output<typeof messageSchema>;

/** Parameters of `SendMessage` and `SendStreamingMessage`. As A2A demands, unknown members are ignored. */
export const sendMessageSchema = z.looseObject({
  tenant,
  message: messageSchema,
  configuration: z
    .looseObject({
      acceptedOutputModes: z.array(z.string()).optional(),
      taskPushNotificationConfig: z.unknown().optional(),
      historyLength,
      returnImmediately: z.boolean().optional(),
    })
    .optional(),
  metadata: z
    .looseObject({
      'jackdaw.deadlineMs': z.int().min(1).max(2_147_483_647).optional(),
      'jackdaw.budgetTokens': z.int().min(1).max(1_000_000_000_000_000).optional(),
    })
    .optional(),
});
export type SendMessage = z.output<typeof sendMessageSchema>;

/** Parameters of `GetTask`, `CancelTask` and `SubscribeToTask`. */
export const taskSchema = z.looseObject({ tenant, id, historyLength });

/** Parameters of `ListTasks`. */
export const listTasksSchema = z.looseObject({
  tenant,
  contextId: name,
  status: z
    .enum(['TASK_STATE_UNSPECIFIED', ...TASK_STATES])
    .transform((state) => (state === 'TASK_STATE_UNSPECIFIED' ? undefined : state))
    .optional(),
  pageSize: z.int().min(1).max(MAX_TASKS).optional(),
  pageToken: name,
  historyLength,
  statusTimestampAfter: z.iso.datetime({ offset: true }).optional(),
  includeArtifacts: z.boolean().optional(),
});
export type ListTasks = z.output<typeof listTasksSchema>;

function emptyAsAbsent(text: string): string | undefined {
  return text === '' ? undefined : text;
}
