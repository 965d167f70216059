import { findPlaces, type Place } from './zone.parser.js';

/** A question about the current time or date, for one or more places. */
export interface TimeRequest {
  /** Whether the question is about the date, not the time. */
  readonly isDate: boolean;
  readonly places: readonly Place[];
  /** An unknown place in the question. */
  readonly unknown?: string;
}

const DATE_EN =
  /\btoday'?s date\b|\bdate (?:is it )?today\b|\b(?:what(?:'s| is)|tell me) the (?:current )?date\b(?! of)|\bcurrent date\b|\bwhat (?:day|date) (?:is (?:it|today)|of the week is it)\b/i;
const DATE_ZH = /(?:今天|现在)是?(?:几[号日月]|多少号|什么日子|星期几|周几|礼拜几|的?日期)|几月几[号日]|当前日期/;
const TIME_EN =
  /\btime is it\b|\b(?:current|local) time\b|\b(?:what(?:'s| is)|tell me) the time\b|^\W*(?:and |the )*time\b(?:[ ?]*$| now| right now| in\b| at\b)|\bwhat(?:'s| is)? time\b(?: now| in\b|[ ?]*$)/i;
const TIME_ZH = /几点(?![开出到起发关结上下睡])|(?:现在|当前|当地|本地|此刻)是?的?(?:什么)?时间|^\s*报时/;
/** Matches a question about the time only with a place before it. */
const TIME_OF_PLACE = /^.{1,12}时间[\s?？是]*$/;
const PLACE_EN = /\btime\b[^,;]*? (?:in|at) (?:the )?(\p{L}[\p{L}\d .'-]*?)(?: now| right now| please)?[\s?.!]*$/iu;
const PLACE_ZH =
  /^(?:请问|请|告诉我|那么|那|和|查一?下|\s)*(\p{Script=Han}{2,8}?)(?:现在|当前|当地|本地|今天|此刻|的|是)*(?:几点|时间|几[号日])/u;
const NO_PLACE = /^(?:现在|今天|当前|此刻|当地|本地|什么|什么时候|你知道|知道|现在是|这里|我这里|我们这里)+$|^moment$/i;

/** Times other than the present, which the tool does not support. */
const OTHER_TIME =
  /\b(?:tomorrow|yesterday|ago|(?:next|last) (?:\p{L}+day|week|month|year))\b|[明昨后前]天|[上下]个?(?:周|星期|月)/iu;

/** Finds a question about the current time or date, in English or Chinese. */
export function findTimeRequest(text: string, isChinese: boolean): TimeRequest | undefined {
  if (OTHER_TIME.test(text)) return undefined;
  const isDate = [DATE_EN, DATE_ZH].some((pattern) => pattern.test(text));
  const isTime = [TIME_EN, TIME_ZH].some((pattern) => pattern.test(text));
  if (!isDate && !isTime && !TIME_OF_PLACE.test(text)) return undefined;
  const places = findPlaces(text, isChinese);
  if (places.length > 0) return { isDate, places };
  if (!isDate && !isTime) return undefined;
  const unknown = unknownPlaceIn(text);
  return { isDate, places, ...(unknown !== undefined && { unknown }) };
}

function unknownPlaceIn(text: string): string | undefined {
  const place = PLACE_EN.exec(text)?.[1] ?? PLACE_ZH.exec(text)?.[1];
  return place === undefined || NO_PLACE.test(place) ? undefined : place;
}
