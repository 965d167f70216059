import { emptyMessage, pairFault } from './chat-faults.js';
import { rulesOf, type Fault, type ProviderRule } from './provider-rule.js';
import { forcesCall, imagesIn } from './request-parts.js';

const API = 'https://docs.bigmodel.cn/api-reference/%E6%A8%A1%E5%9E%8B-api/%E5%AF%B9%E8%AF%9D%E8%A1%A5%E5%85%A8';
const rule = rulesOf(['glm'], ({ message, code = '1214' }: Fault) => ({ error: { code, message } }));

const MESSAGES: Fault = { message: 'messages 参数非法。请检查文档。' };
const PARAMETER: Fault = { message: 'API 调用参数有误，请检查文档。', code: '1210' };
/** 5 MB as base64 text. */
const MAX_IMAGE = Math.ceil((5 * 1024 * 1024) / 3) * 4;

export const GLM_RULES: readonly ProviderRule[] = [
  rule(
    'user-message',
    'A request has at least one user message.',
    'https://github.com/anomalyco/opencode/issues/2557',
    ({ messages }) => (messages.some(({ role }) => role === 'user') ? undefined : MESSAGES),
  ),
  rule(
    'pairs',
    'Tool messages answer every call of the message before them, and nothing else.',
    'https://github.com/lobehub/lobehub/issues/11408',
    (request) => ((pairFault(request, 'unanswered') ?? pairFault(request, 'orphan')) ? MESSAGES : undefined),
  ),
  rule('empty-user', 'A user message has a content.', API, (request) =>
    emptyMessage(request, 'user') === undefined ? undefined : { message: '未正常接收到 prompt 参数。', code: '1213' },
  ),
  rule('temperature', 'The temperature is 1 at most.', API, ({ temperature }) =>
    typeof temperature === 'number' && temperature > 1 ? PARAMETER : undefined,
  ),
  rule('stop-count', 'A request has at most one stop sequence.', API, ({ stop }) =>
    Array.isArray(stop) && stop.length > 1 ? PARAMETER : undefined,
  ),
  rule('tool-choice', 'The tool choice is auto.', API, (request) =>
    forcesCall(request) || request['tool_choice'] === 'none' ? PARAMETER : undefined,
  ),
  rule('tool-count', 'A request has at most 128 tools.', API, ({ tools = [] }) =>
    tools.length > 128 ? PARAMETER : undefined,
  ),
  rule('image-limits', 'An image has at most 5 MB.', API, (request) =>
    imagesIn(request).some(({ data = '' }) => data.length > MAX_IMAGE) ? PARAMETER : undefined,
  ),
];
