import { findExpression } from './expression.parser.js';
import type { OfflineRule } from './offline-rule.types.js';
import { describeSelf, greeting } from './offline-text.mapper.js';

const TIME = /\btime\b|\bdate\b|\btoday\b|几点|时间|几号|日期/i;
const ASKS = /\bwhat|\bcurrent\b|\bnow\b|\btell\b|\?|？|现在|今天|几|当前/i;
const ZONE = /\b(?:UTC|[A-Z][a-z]+\/[A-Z][A-Za-z_]+)\b/;
const GREETING = /^\s*(?:hello|hi|hey|good (?:morning|afternoon|evening)|你好|您好|嗨)/i;

const arithmetic: OfflineRule = ({ text }) => {
  const expression = findExpression(text);
  return expression === undefined ? undefined : { kind: 'call', tool: 'calculator', arguments: { expression } };
};

const time: OfflineRule = ({ text }) => {
  if (!TIME.test(text) || !ASKS.test(text)) return undefined;
  const timezone = ZONE.exec(text)?.[0];
  const zone: Record<string, string> = timezone === undefined ? {} : { timezone };
  return { kind: 'call', tool: 'get_timestamp', arguments: zone };
};

const greet: OfflineRule = ({ text, isChinese }) =>
  GREETING.test(text) ? { kind: 'say', text: greeting(isChinese) } : undefined;

const otherwise: OfflineRule = ({ isChinese }) => ({ kind: 'say', text: describeSelf(isChinese) });

/** In the order in which they are asked; the last one always answers. */
export const OFFLINE_RULES: readonly OfflineRule[] = [arithmetic, time, greet, otherwise];
